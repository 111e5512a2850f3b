"""Runs the commands of tournaments and answers their buttons. `core.text.tournaments` writes the replies."""

from __future__ import annotations

from typing import Any, Final

from bot.core import actions
from bot.core.cards import Card, Form
from bot.core.command_parser import CommandError, Typed
from bot.core.duel_commands import named_member
from bot.core.events import Command, Event, Press
from bot.core.text import tournaments
from service.client import ServiceClient
from service.wire import TournamentPlan

# Wire names of the arguments as typed.
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


class TournamentCommands:
    """The commands of members and admins, and the buttons."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def run(self, event: Command, typed: Typed) -> Card | Form:
        """Shows the newest tournament, joins or leaves it, or picks a member."""
        match typed.text("action", "pick" if "member" in typed.values else "see"):
            case "join":
                return tournaments.joined_card(await self._client.tournament_join(event.who, event.id), event.at)
            case "leave":
                return await self._leave(event)
            case "pick":
                member, _ = named_member(event.who.platform, typed.text("member"))
                if not member:
                    raise CommandError("Say whom you pick, such as `/quiz tournament pick @Ada`.")
                view = await self._client.tournament_pick(event.who, event.id, member)
                return tournaments.tournament_card(view, event.at)
            case _:
                return await self.show(event)

    async def show(self, event: Event, title: str = "") -> Card:
        """Shows the newest tournament, or the one of that name."""
        return tournaments.tournament_card(await self._client.tournament(event.who, title), event.at)

    async def press(
        self, event: Press, action: actions.JoinTournament | actions.LeaveTournament | actions.ShowTournament
    ) -> Card:
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

    async def plan(self, event: Command, typed: Typed) -> Card | Form:
        """Plans a tournament."""
        wanted: dict[str, Any] = {wire: typed.values[name] for name, wire in _PLAN.items() if name in typed.values}
        plan = TournamentPlan.model_validate({"title": typed.text("name").strip(), **wanted})
        view = await self._client.tournament_plan(event.who, event.id, event.where, plan)
        return tournaments.planned_card(view)

    async def name_captain(self, event: Command, typed: Typed) -> Card | Form:
        """Gives a member a team."""
        member, _ = named_member(event.who.platform, typed.text("member"))
        view = await self._client.tournament_captain(event.who, event.id, member)
        return tournaments.tournament_card(view, event.at, "Captain named")

    async def cancel(self, event: Command, typed: Typed) -> Card | Form:
        """Ends the tournament without a result."""
        return tournaments.cancelled_card(await self._client.tournament_cancel(event.who, event.id))
