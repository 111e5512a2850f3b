"""Onboarding: the greeting, the setup of the first schedule, and the bot's home page."""

from __future__ import annotations

import asyncio
from datetime import time
from zoneinfo import available_timezones

from bot.core import actions
from bot.core.answers import read_count, text_in, word_in
from bot.core.argument_kinds import BadArgument, NamedChannel, read_time
from bot.core.cards import Card, Content, Form
from bot.core.channel_access import ChannelAccess, ChannelProblem, RoleProblem
from bot.core.command_parser import CommandError
from bot.core.events import Added, Event, Press, Submit, Visited
from bot.core.text import admin, command_errors, onboarding, refusals
from service.client import ServiceClient, ServiceRefused
from service.wire import RoundView, ScheduleSpec, ScheduleView, Where, Who

WHOLE_WORKSPACE = Where(channel="")
"""No channel, which stands for the whole workspace."""


class Onboarding:
    """Handles the greeting, the setup of the first schedule, and the bot's home page. Actions carry the choices."""

    def __init__(self, client: ServiceClient, access: ChannelAccess | None = None) -> None:
        self._client = client
        self._access = access

    async def greet(self, event: Added) -> tuple[Card, bool]:
        """Returns the greeting, and whether it is the first one in this workspace."""
        first = await self._client.hello(event.who, event.id, event.where)
        return onboarding.hello_card(event.where), first

    async def show_home(self, event: Visited) -> Card:
        """Returns the member's home page."""
        today = await self._client.today(event.who, WHOLE_WORKSPACE)
        return onboarding.home_card(today, await self._client.me(event.who), event.at)

    async def press(self, event: Press, action: actions.SetupPress) -> Content:
        """Answers a button. Raises what the client raises."""
        match action:
            case actions.Setup(channel, name):
                return await self.setup(event, Where(channel=channel, name=name))
            case actions.JoinChannel(channel, name):
                return await self._join(event, Where(channel=channel, name=name))
            case actions.SetupAt(at, channel, name):
                return onboarding.plan_form(at, Where(channel=channel, name=name), event.at)
            case actions.SetupForm(channel, name):
                return await self._whole_form(event, Where(channel=channel, name=name))
            case actions.PostNow(schedule):
                view = await self._client.post_now(event.who, event.id, int(schedule))
                return admin.round_card(view, "Posting now")

    async def submit(self, event: Submit, action: actions.SetupSubmit) -> Card:
        """Completes the setup with a form. Raises CommandError and what the client raises."""
        match action:
            case actions.Begin(at, channel, name):
                return await self._begin(event, at, Where(channel=channel, name=name))
            case actions.BeginHere():
                return await self._begin_here(event)

    async def setup(self, event: Event, where: Where) -> Content:
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
        return await self.check_channel(event.who, where, card)

    async def _whole_form(self, event: Event, where: Where) -> Form:
        """Asks for everything in one form."""
        await self._client.schedule_list(event.who)  # refuses members who are not admins
        return onboarding.setup_form(where, (), await self.find_zone(event.who), event.at)

    async def find_zone(self, who: Who) -> str:
        """Returns the member's own time zone; empty if the chat does not say, or says one that is unknown here."""
        zone = "" if self._access is None else await self._access.find_zone(who)
        return zone if zone in available_timezones() else ""

    async def _join(self, event: Event, where: Where) -> Content:
        """Joins the channel and continues with the setup, which says if it did not work."""
        await self._client.schedule_list(event.who)  # refuses members who are not admins
        if self._access is not None:
            await self._access.join(event.who, where.channel)
        return await self.setup(event, where)

    async def check_channel(self, who: Who, where: Where, card: Card) -> Card:
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
            raise CommandError.of(onboarding.unknown_channel(named.name, event.who.platform))
        return found[0]

    async def role_problem(self, who: Who, role: str) -> RoleProblem | None:
        """Returns what keeps the bot from giving the winner's role; None if there is no role."""
        return await self._access.find_role_problem(who, role) if self._access is not None and role else None

    async def _begin_here(self, event: Submit) -> Card:
        """Adds the schedule of a form that names the channel and the time."""
        channel, typed = text_in(event, "channel"), text_in(event, "at")
        if not channel or not typed:
            raise CommandError.of(command_errors.NO_CHANNEL_OR_TIME)
        try:
            at = f"{read_time(typed):%H%M}"
        except BadArgument as error:
            raise CommandError(str(error), command_errors.NOT_SET_UP) from None
        name = "" if self._access is None else await self._access.find_name(event.who, channel)
        return await self._begin(event, at, Where(channel=channel, name=name))

    async def _begin(self, event: Submit, at: str, where: Where) -> Card:
        """Adds the schedule and shows its first question. Shows an existing one again instead of adding it twice."""
        spec = _spec(event, at)
        for one in await self._client.schedule_list(event.who):
            if one.channel == where.channel and one.spec == spec:
                begun = onboarding.begun_card(one, await self._first(event.who, one), "This schedule already exists")
                return await self.check_channel(event.who, where, begun)
        view = await self._client.schedule_add(event.who, event.id, where, spec)
        return await self.check_channel(
            event.who, where, onboarding.begun_card(view, await self._first(event.who, view))
        )

    async def _first(self, who: Who, view: ScheduleView) -> RoundView | str:
        """Returns the preview, or why there is none: the schedule is kept either way."""
        try:
            return await self._client.schedule_preview(who, view.id)
        except ServiceRefused as refused:
            return refusals.refusal_words(refused.refusal)[1]


def _spec(event: Submit, at: str) -> ScheduleSpec:
    typed = word_in(event, "other")
    days = text_in(event, "days") or onboarding.DAYS[0][0]
    return ScheduleSpec.model_validate(
        {
            "at": time(int(at[:2]), int(at[2:])),
            "weekdays": tuple(day for day in map(read_count, days.split(",")) if day is not None),
            "zone": typed or text_in(event, "zone") or "UTC",
        }
    )
