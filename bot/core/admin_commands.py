"""Runs the commands of `/quiz-admin`. The service checks who is an admin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any, cast
from zoneinfo import ZoneInfo, available_timezones

from bot.core import actions
from bot.core.cards import Card, Form
from bot.core.channel_access import ChannelAccess, ChannelProblem, RoleProblem
from bot.core.command_parser import CommandError, Typed
from bot.core.command_spec import ROLE, WEEKDAYS, ZONE, BadArgument, NamedChannel, read_time
from bot.core.competition_commands import SprintCommands, TournamentCommands
from bot.core.events import Added, Command, Event, Submit, Visited
from bot.core.member_commands import help_reply
from bot.core.text import (
    admin,
    boards,
    doctor,
    item_statistics,
    marking,
    members,
    notices,
    onboarding,
    refusals,
    review,
    similarity,
    suggestions,
)
from service.client import ServiceClient, ServiceRefused
from service.wire import (
    ExtraRound,
    Generated,
    RoundView,
    ScheduleChanges,
    ScheduleSpec,
    ScheduleView,
    Settled,
    Where,
    Who,
    WinnerOf,
    WinnerRoleView,
)

# Onboarding

WHOLE_WORKSPACE = Where(channel="")
"""No channel, which stands for the whole workspace."""


class Onboarding:
    """Handles the greeting, the setup of the first schedule, and the bot's home page. Actions carry the choices."""

    def __init__(self, client: ServiceClient, access: ChannelAccess | None = None) -> None:
        self._client = client
        self._access = access

    async def added(self, event: Added) -> tuple[Card, bool]:
        """Returns the greeting, and whether it is the first one in this workspace."""
        first = await self._client.hello(event.who, event.id, event.where)
        return onboarding.hello_card(event.where), first

    async def visited(self, event: Visited) -> Card:
        """Returns the member's home page."""
        today = await self._client.today(event.who, WHOLE_WORKSPACE)
        return onboarding.home_card(today, await self._client.me(event.who), event.at)

    async def setup(self, event: Event, where: Where) -> Card | Form:
        """Asks for the time; on Slack for everything in one form, unless the bot cannot post in the channel.

        The service refuses members who are not admins.
        """
        known = [one for one in await self._client.schedule_list(event.who) if one.channel == where.channel]
        if event.who.platform == "slack" and self._access is not None:
            problem, zone = await asyncio.gather(
                self._access.find_problem(event.who, where.channel), self.find_zone(event.who)
            )
            if problem is None:
                return onboarding.setup_form(where, tuple(known), zone, event.at)
        card = onboarding.time_card(where, tuple(known), native=event.who.platform == "discord")
        return await self.checked(event.who, where, card)

    async def whole_form(self, event: Event, where: Where) -> Form:
        """Asks for everything in one form."""
        await self._client.schedule_list(event.who)  # refuses members who are not admins
        return onboarding.setup_form(where, (), await self.find_zone(event.who), event.at)

    async def find_zone(self, who: Who) -> str:
        """Returns the member's own time zone; empty if the chat does not say, or says one that is unknown here."""
        zone = "" if self._access is None else await self._access.find_zone(who)
        return zone if zone in available_timezones() else ""

    async def join(self, event: Event, where: Where) -> Card | Form:
        """Joins the channel and continues with the setup, which says if it did not work."""
        await self._client.schedule_list(event.who)  # refuses members who are not admins
        if self._access is not None:
            await self._access.join(event.who, where.channel)
        return await self.setup(event, where)

    async def checked(self, who: Who, where: Where, card: Card) -> Card:
        """Returns the card; if the bot cannot post in the channel, with the reason and what to do."""
        problem = None if self._access is None else await self._access.find_problem(who, where.channel)
        return card if problem is None else onboarding.with_channel_problem(card, where, problem)

    async def channel_problems(self, who: Who) -> list[tuple[str, ChannelProblem]]:
        """Returns the channels of this chat's schedules in which the bot cannot post."""
        if self._access is None:
            return []
        names = {
            one.channel: one.channel_name or one.channel
            for one in await self._client.schedule_list(who)
            if (one.platform, one.chat) == (who.platform, who.workspace)
        }
        found = [(name, await self._access.find_problem(who, channel)) for channel, name in names.items()]
        return [(name, problem) for name, problem in found if problem is not None]

    async def find_channel(self, event: Event, named: NamedChannel) -> Where:
        """Returns a channel that was picked, or one that the quiz knows by that name. Raises CommandError."""
        if named.id:
            name = "" if self._access is None else await self._access.find_name(event.who, named.id)
            return Where(channel=named.id, name=name or named.name)
        known = [event.where.itself, event.where]
        for one in await self._client.schedule_list(event.who):
            if (one.platform, one.chat) == (event.who.platform, event.who.workspace):
                known.append(Where(channel=one.channel, name=one.channel_name))
        found = [one for one in known if one.name.removeprefix("#").casefold() == named.name.casefold()]
        if not found:
            raise CommandError(*onboarding.unknown_channel(named.name, event.who.platform))
        return found[0]

    async def role_problem(self, who: Who, role: str) -> RoleProblem | None:
        """Returns what keeps the bot from giving the winner's role; None if there is no role."""
        return await self._access.find_role_problem(who, role) if self._access is not None and role else None

    def plan(self, event: Event, at: str, where: Where) -> Form:
        """Asks for days and zone."""
        return onboarding.plan_form(at, where, event.at)

    async def begin_here(self, event: Submit) -> Card:
        """Adds the schedule of a form that names the channel and the time."""
        channel, typed = _one(event, "channel"), _one(event, "at")
        if not channel or not typed:
            raise CommandError("Choose a channel and a time.", "Not set up")
        try:
            at = f"{read_time(typed):%H%M}"
        except BadArgument as error:
            raise CommandError(str(error), "Not set up") from None
        name = "" if self._access is None else await self._access.find_name(event.who, channel)
        return await self.begin(event, at, Where(channel=channel, name=name))

    async def begin(self, event: Submit, at: str, where: Where) -> Card:
        """Adds the schedule and shows its first question. Shows an existing one again instead of adding it twice."""
        spec = _spec(event, at)
        for one in await self._client.schedule_list(event.who):
            if one.channel == where.channel and one.spec == spec:
                begun = onboarding.begun_card(one, await self._first(event.who, one), "This schedule is there")
                return await self.checked(event.who, where, begun)
        view = await self._client.schedule_add(event.who, event.id, where, spec)
        return await self.checked(event.who, where, onboarding.begun_card(view, await self._first(event.who, view)))

    async def _first(self, who: Who, view: ScheduleView) -> RoundView | str:
        """Returns the preview, or why there is none: the schedule is kept either way."""
        try:
            return await self._client.schedule_preview(who, view.id)
        except ServiceRefused as refused:
            return refusals.refusal_words(refused.refusal)[1]

    async def post_now(self, event: Event, schedule: int) -> Card:
        """Posts the day's question now."""
        return admin.round_card(await self._client.post_now(event.who, event.id, schedule), "Posting now")


def _spec(event: Submit, at: str) -> ScheduleSpec:
    typed = _one(event, "other").strip()
    days = _one(event, "days") or onboarding.DAYS[0][0]
    return ScheduleSpec.model_validate(
        {
            "at": time(int(at[:2]), int(at[2:])),
            "weekdays": tuple(int(day) for day in days.split(",") if day.isdecimal()),
            "zone": typed or _one(event, "zone") or "UTC",
        }
    )


def _one(event: Submit, name: str) -> str:
    return next(iter(event.values.get(name, ())), "")


@dataclass(frozen=True, slots=True)
class Document:
    """A document to import, as it was pasted or uploaded."""

    name: str
    text: str
    recipe: str = ""
    """How its questions are written; may be empty."""


Said = Card | Form
Handler = Callable[[Command, Typed], Awaitable[Said]]

# Wire names of the arguments as typed.
_PLAN = {
    "at": "at",
    "days": "weekdays",
    "every": "every_days",
    "first": "first_day",
    "month-days": "month_days",
    "zone": "zone",
    "open": "open_minutes",
    "level": "levels",
    "topic": "topics",
    "kind": "kinds",
    "holidays": "country",
    "speed": "speed_bonus",
    "confidence": "confidence",
    "measure": "measure",
    "contestant": "contestant",
    "variants": "variants",
    "ping": "ping",
    "memory": "memory_days",
    "catch-up": "catch_up_minutes",
}

_EXTRA = {"topic": "topics", "level": "levels", "kind": "kinds", "closes-in": "open_minutes"}

_ANY_DAY: dict[str, Any] = {"weekdays": tuple(range(7)), "every_days": 1, "month_days": ()}


class AdminCommands:
    """One method per command, which returns the reply to the admin."""

    def __init__(self, client: ServiceClient, onboarding: Onboarding) -> None:
        self._client = client
        self._onboarding = onboarding
        self._sprints = SprintCommands(client, onboarding.checked)
        self._tournaments = TournamentCommands(client)
        self._handlers: dict[tuple[str, ...], Handler] = {
            ("setup",): self._setup,
            ("schedule", "add"): self._add,
            ("schedule", "list"): self._list,
            ("schedule", "edit"): self._edit,
            ("schedule", "pause"): self._pause,
            ("schedule", "resume"): self._pause,
            ("schedule", "skip"): self._skip,
            ("schedule", "share"): self._share,
            ("schedule", "unshare"): self._share,
            ("schedule", "preview"): self._preview,
            ("schedule", "post-now"): self._post_now,
            ("schedule", "remove"): self._remove,
            ("ask",): self._ask,
            ("close-now",): self._close_now,
            ("sprint", "start"): self._sprints.start,
            ("sprint", "stop"): self._sprints.stop,
            ("sprint", "cancel"): self._sprints.cancel,
            ("sprint", "list"): self._sprints.list,
            ("tournament", "new"): self._tournaments.plan,
            ("tournament", "captain"): self._tournaments.name_captain,
            ("tournament", "cancel"): self._tournaments.cancel,
            ("season", "start"): self._season_start,
            ("season", "end"): self._season_end,
            ("season", "list"): self._seasons,
            ("season", "role"): self._winner_role,
            ("sprint", "role"): self._winner_role,
            ("tournament", "role"): self._winner_role,
            ("bank", "import"): self._import,
            ("bank", "log"): self._log,
            ("bank", "undo"): self._undo,
            ("bank", "list"): self._banks,
            ("bank", "retire"): self._retire,
            ("bank", "restore"): self._retire,
            ("bank", "approve"): self._approve,
            ("bank", "low"): self._low,
            ("bank", "stats"): self._statistics,
            ("review", "list"): self._reports,
            ("review", "show"): self._show_report,
            ("review", "dismiss"): self._settle,
            ("review", "fixed"): self._settle,
            ("review", "suggestions"): self._suggestions,
            ("review", "here"): self._review_place,
            ("review", "me"): self._review_place,
            ("digest",): self._digest,
            ("review", "answers"): self._open_answers,
            ("review", "similarity"): self._similarity,
            ("review", "credit"): self._credit,
            ("member", "restore"): self._restore,
            ("member", "adjust"): self._adjust,
            ("link",): self._link,
            ("audit",): self._audit,
            ("doctor",): self._doctor,
            ("help",): self._help,
        }

    async def run(self, event: Command, typed: Typed) -> Said:
        """Runs a parsed command. Raises CommandError and what the client raises."""
        if typed.has_relative_days:
            typed = typed.dated(await self._today(event, typed))
        return await self._handlers[typed.spec.path](event, typed)

    async def _today(self, event: Command, typed: Typed) -> date:
        """Returns today's date in the time zone that the command is about, in which `tomorrow` counts."""
        if "zone" in typed.values:
            return event.at.astimezone(ZoneInfo(typed.text("zone"))).date()
        known = await self._client.schedule_list(event.who)
        # The named schedule, else one of this channel, else any.
        here = _schedules_here(known, event)
        known = tuple(sorted(known, key=lambda one: (one.id != typed.number("schedule"), one not in here)))
        zone = known[0].spec.zone if known else await self._onboarding.find_zone(event.who)
        return event.at.astimezone(ZoneInfo(zone or "UTC")).date()

    # Schedules

    async def _setup(self, event: Command, typed: Typed) -> Said:
        return await self._onboarding.setup(event, event.where.itself)

    async def _add(self, event: Command, typed: Typed) -> Said:
        spec = ScheduleSpec()
        if "zone" not in typed.values and (zone := await self._onboarding.find_zone(event.who)):
            spec = ScheduleSpec(zone=zone)
        where = await self._place(event, typed)
        view = await self._client.schedule_add(event.who, event.id, where, _changes(typed).apply(spec))
        return await self._onboarding.checked(event.who, where, admin.schedule_card(view, "Schedule added"))

    async def _list(self, event: Command, typed: Typed) -> Said:
        return admin.schedules_card(await self._client.schedule_list(event.who))

    async def _edit(self, event: Command, typed: Typed) -> Said:
        known = await self._schedule(event, typed)
        if not typed.values.keys() & _PLAN.keys():
            return admin.schedule_form(known)
        view = await self._client.schedule_edit(event.who, event.id, known.id, _changes(typed))
        return admin.schedule_card(view, "Schedule changed")

    async def edit_form(self, event: Event, schedule: int) -> Said:
        """Shows the form that changes a schedule."""
        return admin.schedule_form(_by_number(await self._client.schedule_list(event.who), schedule))

    async def edit(self, event: Submit, shown: actions.EditSchedule) -> Said:
        """Changes what differs from what the form showed. Raises CommandError."""
        known = _by_number(await self._client.schedule_list(event.who), int(shown.schedule))
        try:
            changes = _differences(event, shown)
        except BadArgument as error:
            raise CommandError(str(error), "Not changed") from None
        if not changes:
            return admin.schedule_card(known, "Nothing changed")
        wanted = ScheduleChanges.model_validate(changes)
        return admin.schedule_card(
            await self._client.schedule_edit(event.who, event.id, known.id, wanted), "Schedule changed"
        )

    async def _pause(self, event: Command, typed: Typed) -> Said:
        paused = typed.spec.path[1] == "pause"
        known = await self._schedule(event, typed)
        view = await self._client.schedule_pause(event.who, event.id, known.id, paused)
        return admin.schedule_card(view, "Schedule paused" if paused else "Schedule resumed")

    async def _skip(self, event: Command, typed: Typed) -> Said:
        known = await self._schedule(event, typed)
        view = await self._client.schedule_skip(event.who, event.id, known.id, typed.day("date"))
        return admin.schedule_card(view, "Day skipped")

    async def _share(self, event: Command, typed: Typed) -> Said:
        number = typed.number("schedule")
        if typed.spec.path[1] == "share":
            view = await self._client.schedule_share(event.who, event.id, await self._place(event, typed), number)
            return admin.schedule_card(view, "Schedule shared")
        view = await self._client.schedule_unshare(event.who, event.id, event.where, number)
        return admin.schedule_card(view, "No longer shared")

    async def _preview(self, event: Command, typed: Typed) -> Said:
        known = await self._schedule(event, typed)
        day = typed.day("date") if "date" in typed.values else None
        title = "The next question" if day is None else "The question of that day"
        return admin.round_card(await self._client.schedule_preview(event.who, known.id, day), title)

    async def _post_now(self, event: Command, typed: Typed) -> Said:
        known = await self._schedule(event, typed)
        return admin.round_card(await self._client.post_now(event.who, event.id, known.id), "Posting now")

    async def _remove(self, event: Command, typed: Typed) -> Said:
        known = await self._schedule(event, typed)
        await self._client.schedule_remove(event.who, event.id, known.id)
        return admin.done_card("Schedule removed", f"Schedule {known.id} is removed; its rounds and points stay.")

    async def _place(self, event: Command, typed: Typed) -> Where:
        """Returns the named channel, or else where the command was typed, which may be a thread."""
        named = typed.values.get("channel")
        if not isinstance(named, NamedChannel):
            return event.where.itself
        return await self._onboarding.find_channel(event, named)

    async def _schedule(self, event: Command, typed: Typed) -> ScheduleView:
        """Returns the named schedule, or else the only one of this channel or of the workspace."""
        known = await self._client.schedule_list(event.who)
        if "schedule" in typed.values:
            return _by_number(known, typed.number("schedule"))
        found = _schedules_here(known, event) or list(known)
        if len(found) == 1:
            return found[0]
        if "schedule" in typed.values:
            return _by_number(known, typed.number("schedule"))
        if not known:
            raise CommandError("There is no schedule yet.")
        raise CommandError(f"There are schedules {_numbers(known)}. Say which: `{typed.spec.usage}`.")

    # Rounds, sprints and seasons

    async def _ask(self, event: Command, typed: Typed) -> Said:
        wanted = {wire: typed.values[name] for name, wire in _EXTRA.items() if name in typed.values}
        where = await self._place(event, typed) if "channel" in typed.values else event.where
        view = await self._client.ask_extra(event.who, event.id, where, ExtraRound.model_validate(wanted))
        card = admin.round_card(view, "Posting an extra question now")
        return await self._onboarding.checked(event.who, where, card)

    async def _close_now(self, event: Command, typed: Typed) -> Said:
        return admin.round_card(await self._client.close_now(event.who, event.id, event.where), "Closed")

    async def _season_start(self, event: Command, typed: Typed) -> Said:
        name = typed.text("name").strip().strip('"')
        return admin.season_card(await self._client.season_start(event.who, event.id, name), "Season started")

    async def _season_end(self, event: Command, typed: Typed) -> Said:
        return admin.season_card(await self._client.season_end(event.who, event.id), "Season ended")

    async def _seasons(self, event: Command, typed: Typed) -> Said:
        return admin.seasons_card(await self._client.season_list(event.who))

    async def _winner_role(self, event: Command, typed: Typed) -> Said:
        if event.who.platform != "discord":
            raise CommandError(boards.NO_ROLES, "No roles here")
        of = cast(WinnerOf, typed.spec.path[0])
        if "role" in typed.values:
            view = await self._client.winner_role_set(event.who, event.id, event.where, of, typed.text("role"))
        else:
            known = await self._client.winner_roles(event.who)
            view = next((one for one in known if one.event == of), WinnerRoleView(event=of))
        return boards.winner_role_card(view, await self._onboarding.role_problem(event.who, view.role))

    # Banks

    async def _import(self, event: Command, typed: Typed) -> Said:
        return members.import_form()

    async def take_document(self, event: Event, document: Document, apply: bool) -> Said:
        """Imports a document; with `apply` false, only previews it. On the web, the form stays open for the import."""
        name, text, recipe = document.name, document.text, document.recipe
        if not name or not text.strip():
            raise CommandError(
                "An import needs the document's name and its text. `/quiz-admin bank import` asks again."
            )
        view = await self._client.bank_import(event.who, event.id, name, text, apply, recipe)
        card = admin.imported_card(view)
        if apply or event.who.platform != "web":
            return card
        return members.import_form(name, text, recipe, card.blocks)

    async def _log(self, event: Command, typed: Typed) -> Said:
        return admin.log_card(await self._client.bank_log(event.who, typed.text("name")))

    async def _undo(self, event: Command, typed: Typed) -> Said:
        return admin.undone_card(await self._client.bank_undo(event.who, event.id, typed.text("name")))

    async def _banks(self, event: Command, typed: Typed) -> Said:
        return admin.banks_card(await self._client.bank_list(event.who))

    async def _retire(self, event: Command, typed: Typed) -> Said:
        question, retired = typed.text("id"), typed.spec.path[1] == "retire"
        await self._client.bank_retire(event.who, event.id, question, retired)
        return admin.retired_card(question, retired)

    async def _approve(self, event: Command, typed: Typed) -> Said:
        if "next" in typed.values:
            how = cast(Generated, typed.text("next"))
            await self._client.bank_generated(event.who, event.id, how)
            return admin.generated_card(how)
        if "id" not in typed.values:
            raise CommandError("Say which: a question's id, or `/quiz-admin bank approve all`.")
        return admin.approved_card(await self._client.bank_approve(event.who, event.id, typed.text("id")))

    async def _low(self, event: Command, typed: Typed) -> Said:
        return admin.low_card(await self._client.bank_low(event.who))

    async def _statistics(self, event: Command, typed: Typed) -> Said:
        if "id" not in typed.values:
            return item_statistics.bank_card(await self._client.bank_statistics(event.who))
        return item_statistics.question_card(await self._client.question_statistics(event.who, typed.text("id")))

    # Reports, members, workspace

    async def _reports(self, event: Command, typed: Typed) -> Said:
        return review.reports_card(await self._client.reports(event.who))

    async def _show_report(self, event: Command, typed: Typed) -> Said:
        return await self.review(event, typed.number("report"))

    async def review(self, event: Event, report: int) -> Said:
        """Shows a report beside its question."""
        return review.report_card(await self._client.report_view(event.who, report))

    async def _settle(self, event: Command, typed: Typed) -> Said:
        state = "fixed" if typed.spec.path[1] == "fixed" else "dismissed"
        if "reason" not in typed.values:
            return review.settle_form(typed.number("report"), state)
        return await self.settle(event, typed.number("report"), state, typed.text("reason"))

    async def settle(self, event: Event, report: int, state: str, reason: str) -> Said:
        """Marks a report as dismissed or fixed, and has its author told why."""
        settled = cast(Settled, state)
        return review.settled_card(await self._client.report_settle(event.who, event.id, report, settled, reason))

    async def _suggestions(self, event: Command, typed: Typed) -> Said:
        if "suggestion" in typed.values:
            return await self.review_suggestion(event, typed.number("suggestion"))
        return suggestions.waiting_card(await self._client.suggestions(event.who))

    async def review_suggestion(self, event: Event, suggestion: int) -> Said:
        """Shows a suggestion with its key."""
        return suggestions.suggestion_card(await self._client.suggestion_view(event.who, suggestion))

    async def suggestion_form(self, event: Event, suggestion: int) -> Said:
        """Asks for the changed text of a suggestion."""
        return suggestions.edit_form((await self._client.suggestion_view(event.who, suggestion)).suggestion)

    async def edit_suggestion(self, event: Event, suggestion: int, text: str) -> Said:
        """Saves the changed text of a suggestion and shows how it is read now."""
        await self._client.suggestion_edit(event.who, event.id, suggestion, text)
        return await self.review_suggestion(event, suggestion)

    async def accept_suggestion(self, event: Event, suggestion: int, seen: str) -> Said:
        """Adds a suggested question to the bank, unless its text is another than the moderator saw."""
        return suggestions.decided_card(await self._client.suggestion_accept(event.who, event.id, suggestion, seen))

    async def decline_suggestion(self, event: Event, suggestion: int, reason: str) -> Said:
        """Declines a suggestion, and has its author told why."""
        return suggestions.decided_card(await self._client.suggestion_decline(event.who, event.id, suggestion, reason))

    async def _digest(self, event: Command, typed: Typed) -> Said:
        if "switch" not in typed.values:
            return notices.digest_card(await self._client.digest(event.who))
        on = bool(typed.values["switch"])
        return notices.switched_card(await self._client.digest_switch(event.who, event.id, on))

    async def _review_place(self, event: Command, typed: Typed) -> Said:
        if typed.spec.path[1] == "me":
            await self._client.review_me(event.who, event.id)
            return review.review_me_card()
        await self._client.review_here(event.who, event.id, event.where)
        return await self._onboarding.checked(event.who, event.where, review.review_here_card(event.where))

    async def _similarity(self, event: Command, typed: Typed) -> Said:
        return similarity.similarity_card(await self._client.similar_answers(event.who))

    async def _open_answers(self, event: Command, typed: Typed) -> Said:
        return marking.waiting_card(await self._client.open_answers(event.who))

    async def _credit(self, event: Command, typed: Typed) -> Said:
        return await self.credit(event, typed.number("answer"), typed.number("percent"))

    async def credit(self, event: Event, answer: int, percent: int) -> Said:
        """Sets the credit of an open answer."""
        return marking.credited_card(await self._client.open_answer_credit(event.who, event.id, answer, percent))

    async def _restore(self, event: Command, typed: Typed) -> Said:
        member, day = typed.text("name"), typed.day("date")
        await self._client.member_restore(event.who, event.id, member, day)
        return admin.restored_card(member, day)

    async def _adjust(self, event: Command, typed: Typed) -> Said:
        member, points, reason = typed.text("name"), typed.number("points"), typed.text("reason").strip()
        await self._client.member_adjust(event.who, event.id, member, points, reason)
        return admin.adjusted_card(member, points, reason)

    async def _link(self, event: Command, typed: Typed) -> Said:
        if "code" not in typed.values:
            return admin.chat_code_card(await self._client.chat_link(event.who, event.id))
        return await self.join(event, typed.text("code"), sure=False)

    async def join(self, event: Event, code: str, *, sure: bool) -> Said:
        """Links this chat by a code. Unless `sure`, a chat with data only gets a warning of what linking would do."""
        return admin.chat_linked_card(await self._client.chat_join(event.who, event.id, code, sure), code)

    async def _audit(self, event: Command, typed: Typed) -> Said:
        return admin.audit_card(await self._client.audit(event.who))

    async def _doctor(self, event: Command, typed: Typed) -> Said:
        checks = await self._client.doctor(event.who)
        channels = await self._onboarding.channel_problems(event.who)
        roles = dict.fromkeys(one.role for one in await self._client.winner_roles(event.who))
        problems = [await self._onboarding.role_problem(event.who, role) for role in roles]
        problem = next((one for one in problems if one is not None), None)
        return doctor.doctor_card(checks, channels, problem)

    async def _help(self, event: Command, typed: Typed) -> Said:
        return help_reply(typed)


def _by_number(known: Sequence[ScheduleView], number: int) -> ScheduleView:
    """Returns the schedule with that number. Raises CommandError."""
    found = next((one for one in known if one.id == number), None)
    if found is None:
        there = f"There are schedules {_numbers(known)}." if known else "There is no schedule yet."
        raise CommandError(f"There is no schedule {number}. {there}", "Unknown schedule")
    return found


def _numbers(known: Sequence[ScheduleView]) -> str:
    return ", ".join(str(one.id) for one in known)


def _differences(event: Submit, shown: actions.EditSchedule) -> dict[str, Any]:
    """Returns the fields of a form that differ from what it showed, as changes. Raises BadArgument."""
    at, days, zone, ping = (_one(event, name).strip() for name in ("at", "days", "zone", "ping"))
    changes: dict[str, Any] = {}
    if at and (time_ := read_time(at)) and f"{time_:%H%M}" != shown.at:
        changes["at"] = time_
    if days and (weekdays := WEEKDAYS.read(days)) != tuple(map(int, shown.days)):
        changes |= {**_ANY_DAY, "weekdays": weekdays}
    if zone and (named := ZONE.read(zone)) != shown.zone:
        changes["zone"] = named
    if "ping" in event.values and (role := ROLE.read(ping or "none")) != shown.ping:
        changes["ping"] = role
    return changes


def _schedules_here(known: Sequence[ScheduleView], event: Event) -> list[ScheduleView]:
    """Returns the schedules that post to the event's thread, or else to its channel."""
    for channel in (event.where.itself.channel, event.where.channel):
        if found := [one for one in known if (event.who.platform, channel) in _places(one)]:
            return found
    return []


def _places(view: ScheduleView) -> list[tuple[str, str]]:
    return [(view.platform, view.channel), *((one.platform, one.channel) for one in view.shared)]


def _changes(typed: Typed) -> ScheduleChanges:
    """Returns what is typed of a schedule.

    Weekdays, `every` and `month-days` are one rhythm: typing any of them replaces all.
    """
    rhythm = _ANY_DAY if typed.values.keys() & {"days", "every", "month-days"} else {}
    named = {wire: typed.values[name] for name, wire in _PLAN.items() if name in typed.values}
    return ScheduleChanges.model_validate({**rhythm, **named})
