"""Runs the commands of sprints and tournaments, and answers their buttons. `core.text` writes the replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.core import actions
from bot.core.cards import Card, Content
from bot.core.command_parser import CommandError, Typed
from bot.core.duel_commands import named_member
from bot.core.events import Command, Event, Press
from bot.core.text import command_errors, sprints, tournaments
from service.client import ServiceClient
from service.wire import PlannedSprint, TournamentPlan, Where, Who

_PLAN: Final = {
    "first": "first_day",
    "days": "days",
    "teams": "teams",
    "count": "team_count",
    "form": "form",
    "best": "best",
    "schedules": "schedules",
    "late": "late",
    "balance": "balance",
}
"""Wire names of the arguments as typed."""

SPRINT_QUESTIONS = 5
SPRINT_SECONDS = 20
"""Seconds for each question of a sprint, unless an admin says otherwise."""
_SPRINT: Final = {"topic": "topic", "at": "at", "date": "day"}
CheckChannel = Callable[[Who, Where, Card], Awaitable[Card]]
"""Returns the card; if the bot cannot post in the channel, with the reason."""


class SprintCommands:
    """One method per command of `/quiz-admin sprint`, which returns the reply to the admin."""

    def __init__(self, client: ServiceClient, check_channel: CheckChannel) -> None:
        self._client = client
        self._check_channel = check_channel

    async def start(self, event: Command, typed: Typed) -> Card:
        """Starts a sprint, or plans one if a time is named."""
        questions, seconds = typed.number("questions", SPRINT_QUESTIONS), typed.number("seconds", SPRINT_SECONDS)
        if not typed.values.keys() & {"at", "date"}:
            view = await self._client.sprint_start(
                event.who, event.id, event.where, questions, seconds, typed.text("topic")
            )
            return await self._check_channel(event.who, event.where, sprints.started_card(view))
        if "at" not in typed.values:
            raise CommandError(command_errors.NO_TIME)
        more = {wire: typed.values[name] for name, wire in _SPRINT.items() if name in typed.values}
        plan = PlannedSprint.model_validate({"questions": questions, "seconds": seconds, **more})
        view = await self._client.sprint_plan(event.who, event.id, event.where, plan)
        return await self._check_channel(event.who, event.where, sprints.planned_card(view))

    async def cancel(self, event: Command, typed: Typed) -> Card:
        """Cancels the channel's next planned sprint."""
        return sprints.cancelled_card(await self._client.sprint_cancel(event.who, event.id, event.where))

    async def list(self, event: Command, typed: Typed) -> Card:
        """Lists the planned sprints."""
        return sprints.list_card((await self._client.sprints(event.who)).planned)

    async def stop(self, event: Command, typed: Typed) -> Card:
        """Ends the sprint that runs in the channel."""
        return sprints.stopped_card(await self._client.sprint_stop(event.who, event.id, event.where))


class TournamentCommands:
    """The commands of members and admins, and the buttons."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def run(self, event: Command, typed: Typed) -> Content:
        """Shows the newest tournament, joins or leaves it, or picks a member."""
        match typed.text("action", "pick" if "member" in typed.values else "see"):
            case "join":
                return tournaments.joined_card(await self._client.tournament_join(event.who, event.id), event.at)
            case "leave":
                return await self._leave(event)
            case "pick":
                member, _ = named_member(event.who.platform, typed.text("member"))
                if not member:
                    raise CommandError(command_errors.NO_PICK)
                view = await self._client.tournament_pick(event.who, event.id, member)
                return tournaments.tournament_card(view, event.at)
            case _:
                return await self.show(event)

    async def show(self, event: Event, title: str = "") -> Card:
        """Shows the newest tournament, or the one of that name."""
        return tournaments.tournament_card(await self._client.tournament(event.who, title), event.at)

    async def press(self, event: Press, action: actions.TournamentPress) -> Card:
        """Answers a button of a tournament."""
        match action:
            case actions.JoinTournament(tournament):
                view = await self._client.tournament_join(event.who, event.id, int(tournament))
                return tournaments.joined_card(view, event.at)
            case actions.LeaveTournament():
                return await self._leave(event)
            case actions.ShowTournament():
                return await self.show(event)

    async def _leave(self, event: Event) -> Card:
        return tournaments.left_card(await self._client.tournament_leave(event.who, event.id))

    # For admins

    async def plan(self, event: Command, typed: Typed) -> Content:
        """Plans a tournament."""
        wanted: dict[str, Any] = {wire: typed.values[name] for name, wire in _PLAN.items() if name in typed.values}
        plan = TournamentPlan.model_validate({"title": typed.text("name").strip(), **wanted})
        view = await self._client.tournament_plan(event.who, event.id, event.where, plan)
        return tournaments.planned_card(view)

    async def name_captain(self, event: Command, typed: Typed) -> Content:
        """Gives a member a team."""
        member, _ = named_member(event.who.platform, typed.text("member"))
        view = await self._client.tournament_captain(event.who, event.id, member)
        return tournaments.tournament_card(view, event.at, "Captain named")

    async def cancel(self, event: Command, typed: Typed) -> Content:
        """Ends the tournament without a result."""
        return tournaments.cancelled_card(await self._client.tournament_cancel(event.who, event.id))
