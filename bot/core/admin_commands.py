"""Runs the commands of `/quiz-admin`. The service checks who is an admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, cast
from zoneinfo import ZoneInfo

from bot.core import actions
from bot.core.answers import text_in, word_in
from bot.core.argument_kinds import ROLE, WEEKDAYS, ZONE, BadArgument, NamedChannel, read_time
from bot.core.cards import Content
from bot.core.command_parser import CommandError, Handler, Typed
from bot.core.competition_commands import SprintCommands, TournamentCommands
from bot.core.duel_commands import named_member
from bot.core.events import Command, Event, Press, Submit
from bot.core.limits import DISCORD
from bot.core.markup import member_markdown
from bot.core.member_commands import help_reply
from bot.core.onboarding import Onboarding
from bot.core.review_commands import ReviewCommands
from bot.core.text import (
    admin,
    boards,
    command_errors,
    doctor,
    item_statistics,
    linking,
    members,
    notices,
)
from service.client import ServiceClient, ServiceRefused
from service.wire import (
    ExtraRound,
    Generated,
    NoSlotAhead,
    ScheduleChanges,
    ScheduleSpec,
    ScheduleView,
    Where,
    WinnerOf,
    WinnerRoleView,
)

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
"""Wire names of the arguments as typed."""

_EXTRA = {
    "topic": "topics",
    "level": "levels",
    "kind": "kinds",
    "closes-in": "open_minutes",
    "question": "question",
}

_ANY_DAY: dict[str, Any] = {"weekdays": tuple(range(7)), "every_days": 1, "month_days": ()}


class AdminCommands:
    """One method per command, which returns the reply to the admin."""

    def __init__(self, client: ServiceClient, onboarding: Onboarding) -> None:
        self._client = client
        self._onboarding = onboarding
        self._sprints = SprintCommands(client, onboarding.check_channel)
        self._tournaments = TournamentCommands(client)
        self.review = ReviewCommands(client, onboarding.check_channel)
        """The commands, buttons and forms of moderators."""
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
            ("digest",): self._digest,
            ("member", "restore"): self._restore,
            ("member", "adjust"): self._adjust,
            ("link",): self._link,
            ("audit",): self._audit,
            ("doctor",): self._doctor,
            ("help",): self._help,
        }

    async def run(self, event: Command, typed: Typed) -> Content:
        """Runs a parsed command. Raises CommandError and what the client raises."""
        if typed.has_relative_days:
            typed = typed.dated(await self._today(event, typed))
        if typed.spec.path[0] == "review":
            return await self.review.run(event, typed)
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

    async def press(self, event: Press, action: actions.AdminPress) -> Content:
        """Answers a button. Raises as `run` does."""
        match action:
            case actions.EditSchedule(schedule):
                known = await self._client.schedule_list(event.who)
                return admin.schedule_form(_by_number(known, int(schedule)))
            case actions.Import():
                return members.import_form()
            case actions.Join(code):
                return await self._join(event, code, sure=True)

    async def submit(self, event: Submit, action: actions.AdminSubmit) -> Content:
        """Answers a form. Raises as `run` does."""
        match action:
            case actions.EditSchedule():
                return await self._change_schedule(event, action)
            case actions.Import(how):
                return await self._import_document(event, apply=how == "apply")

    # Schedules

    async def _setup(self, event: Command, typed: Typed) -> Content:
        return await self._onboarding.setup(event, event.where.itself)

    async def _add(self, event: Command, typed: Typed) -> Content:
        spec = ScheduleSpec()
        if "zone" not in typed.values and (zone := await self._onboarding.find_zone(event.who)):
            spec = ScheduleSpec(zone=zone)
        where = await self._place(event, typed)
        view = await self._client.schedule_add(event.who, event.id, where, _changes(typed).apply(spec))
        return await self._onboarding.check_channel(event.who, where, admin.schedule_card(view, "Schedule added"))

    async def _list(self, event: Command, typed: Typed) -> Content:
        return admin.schedules_card(await self._client.schedule_list(event.who))

    async def _edit(self, event: Command, typed: Typed) -> Content:
        known = await self._schedule(event, typed)
        if not typed.values.keys() & _PLAN.keys():
            return admin.schedule_form(known)
        view = await self._client.schedule_edit(event.who, event.id, known.id, _changes(typed))
        return admin.schedule_card(view, "Schedule changed")

    async def _change_schedule(self, event: Submit, shown: actions.EditSchedule) -> Content:
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

    async def _pause(self, event: Command, typed: Typed) -> Content:
        paused = typed.spec.path[1] == "pause"
        known = await self._schedule(event, typed)
        view = await self._client.schedule_pause(event.who, event.id, known.id, paused)
        return admin.schedule_card(view, "Schedule paused" if paused else "Schedule resumed")

    async def _skip(self, event: Command, typed: Typed) -> Content:
        known = await self._schedule(event, typed)
        day = typed.day("date")
        return admin.skipped_card(await self._client.schedule_skip(event.who, event.id, known.id, day), day)

    async def _share(self, event: Command, typed: Typed) -> Content:
        number = typed.number("schedule")
        if typed.spec.path[1] == "share":
            view = await self._client.schedule_share(event.who, event.id, await self._place(event, typed), number)
            return admin.schedule_card(view, "Schedule shared")
        view = await self._client.schedule_unshare(event.who, event.id, event.where, number)
        return admin.schedule_card(view, "No longer shared")

    async def _preview(self, event: Command, typed: Typed) -> Content:
        known = await self._schedule(event, typed)
        day = typed.day("date") if "date" in typed.values else None
        title = "The next question" if day is None else "The question of that day"
        try:
            return admin.round_card(await self._client.schedule_preview(event.who, known.id, day), title)
        except ServiceRefused as refused:
            if day is None or not isinstance(refused.refusal, NoSlotAhead):
                raise
            raise CommandError.of(command_errors.no_question_on(day, known.id)) from None

    async def _post_now(self, event: Command, typed: Typed) -> Content:
        known = await self._schedule(event, typed)
        return admin.round_card(await self._client.post_now(event.who, event.id, known.id), "Posting now")

    async def _remove(self, event: Command, typed: Typed) -> Content:
        known = await self._schedule(event, typed)
        await self._client.schedule_remove(event.who, event.id, known.id)
        return admin.removed_card(known.id)

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
        if not known:
            raise CommandError(command_errors.NO_SCHEDULE, "No schedule")
        raise CommandError(command_errors.which_schedule(known, typed.spec.usage))

    # Rounds, sprints and seasons

    async def _ask(self, event: Command, typed: Typed) -> Content:
        wanted = {wire: typed.values[name] for name, wire in _EXTRA.items() if name in typed.values}
        if "question" in typed.values and {"topic", "level", "kind"} & typed.values.keys():
            raise CommandError(command_errors.ONE_QUESTION)
        where = await self._place(event, typed) if "channel" in typed.values else event.where
        view = await self._client.ask_extra(event.who, event.id, where, ExtraRound.model_validate(wanted))
        card = admin.round_card(view, "Posting an extra question now")
        return await self._onboarding.check_channel(event.who, where, card)

    async def _close_now(self, event: Command, typed: Typed) -> Content:
        view = await self._client.close_now(event.who, event.id, event.where)
        return admin.round_card(view, "Withdrawn" if view.withdrawn else "Closed")

    async def _season_start(self, event: Command, typed: Typed) -> Content:
        name = typed.text("name").strip().strip('"')
        return admin.season_card(await self._client.season_start(event.who, event.id, name), "Season started")

    async def _season_end(self, event: Command, typed: Typed) -> Content:
        return admin.season_card(await self._client.season_end(event.who, event.id), "Season ended")

    async def _seasons(self, event: Command, typed: Typed) -> Content:
        return admin.seasons_card(await self._client.season_list(event.who))

    async def _winner_role(self, event: Command, typed: Typed) -> Content:
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

    async def _import(self, event: Command, typed: Typed) -> Content:
        return members.import_form()

    async def _import_document(self, event: Submit, *, apply: bool) -> Content:
        """Imports a document; without `apply`, only previews it. What was typed is not lost: on the web the form stays
        open after a preview and after errors, and elsewhere the reply has it."""
        name, text, recipe = word_in(event, "name"), text_in(event, "text"), text_in(event, "recipe")
        if not name or not text.strip():
            raise CommandError(command_errors.INCOMPLETE_IMPORT)
        view = await self._client.bank_import(event.who, event.id, name, text, apply, recipe)
        card = admin.imported_card(view)
        if event.who.platform == "web":
            imported = apply and not view.errors
            return card if imported else members.import_form(name, text, recipe, card.blocks, refused=apply)
        return admin.with_document(card, text) if view.errors and len(text) <= DISCORD.typed_text else card

    async def _log(self, event: Command, typed: Typed) -> Content:
        return admin.log_card(await self._client.bank_log(event.who, typed.text("name")))

    async def _undo(self, event: Command, typed: Typed) -> Content:
        name, number = typed.text("name"), typed.number("import") or None
        return admin.undone_card(await self._client.bank_undo(event.who, event.id, name, number))

    async def _banks(self, event: Command, typed: Typed) -> Content:
        return admin.banks_card(await self._client.bank_list(event.who))

    async def _retire(self, event: Command, typed: Typed) -> Content:
        question, retired = typed.text("id"), typed.spec.path[1] == "retire"
        await self._client.bank_retire(event.who, event.id, question, retired)
        return admin.retired_card(question, retired)

    async def _approve(self, event: Command, typed: Typed) -> Content:
        if "next" in typed.values:
            how = cast(Generated, typed.text("next"))
            await self._client.bank_generated(event.who, event.id, how)
            return admin.generated_card(how)
        if "id" not in typed.values:
            raise CommandError(command_errors.NO_QUESTION)
        return admin.approved_card(await self._client.bank_approve(event.who, event.id, typed.text("id")))

    async def _low(self, event: Command, typed: Typed) -> Content:
        return admin.low_card(await self._client.bank_low(event.who))

    async def _statistics(self, event: Command, typed: Typed) -> Content:
        if "id" not in typed.values:
            return item_statistics.bank_card(await self._client.bank_statistics(event.who))
        return item_statistics.question_card(await self._client.question_statistics(event.who, typed.text("id")))

    # Members, workspace

    async def _digest(self, event: Command, typed: Typed) -> Content:
        if "switch" not in typed.values:
            return notices.digest_card(await self._client.digest(event.who))
        on = bool(typed.values["switch"])
        return notices.switched_card(await self._client.digest_switch(event.who, event.id, on))

    async def _restore(self, event: Command, typed: Typed) -> Content:
        (member, name), day = _member(event, typed), typed.day("date")
        await self._client.member_restore(event.who, event.id, member, day)
        return admin.restored_card(name, day)

    async def _adjust(self, event: Command, typed: Typed) -> Content:
        (member, name), points, reason = _member(event, typed), typed.number("points"), typed.text("reason").strip()
        await self._client.member_adjust(event.who, event.id, member, points, reason)
        return admin.adjusted_card(name, points, reason)

    async def _link(self, event: Command, typed: Typed) -> Content:
        if "code" not in typed.values:
            return linking.chat_code_card(await self._client.chat_link(event.who, event.id))
        return await self._join(event, typed.text("code"), sure=False)

    async def _join(self, event: Event, code: str, *, sure: bool) -> Content:
        """Links this chat by a code. Unless `sure`, a chat with data only gets a warning of what linking would do."""
        return linking.chat_linked_card(await self._client.chat_join(event.who, event.id, code, sure), code)

    async def _audit(self, event: Command, typed: Typed) -> Content:
        return admin.audit_card(await self._client.audit(event.who))

    async def _doctor(self, event: Command, typed: Typed) -> Content:
        checks = await self._client.doctor(event.who)
        channels = await self._onboarding.channel_problems(event.who)
        roles = dict.fromkeys(one.role for one in await self._client.winner_roles(event.who))
        problems = [await self._onboarding.role_problem(event.who, role) for role in roles]
        problem = next((one for one in problems if one is not None), None)
        return doctor.doctor_card(checks, channels, problem)

    async def _help(self, event: Command, typed: Typed) -> Content:
        return help_reply(typed)


def _by_number(known: Sequence[ScheduleView], number: int) -> ScheduleView:
    """Returns the schedule with that number. Raises CommandError."""
    found = next((one for one in known if one.id == number), None)
    if found is None:
        raise CommandError.of(command_errors.unknown_schedule(number, known))
    return found


def _member(event: Command, typed: Typed) -> tuple[str, str]:
    """Returns the id or name of the member that a command names, and how to show them. Markdown."""
    given = typed.text("name").strip()
    member, _ = named_member(event.who.platform, given)
    picked = event.who.platform == "discord" and member != given
    return member, member_markdown(member, "discord", member if picked else "")


def _differences(event: Submit, shown: actions.EditSchedule) -> dict[str, Any]:
    """Returns the fields of a form that differ from what it showed, as changes. Raises BadArgument."""
    at, days, zone, ping = (word_in(event, name) for name in ("at", "days", "zone", "ping"))
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
