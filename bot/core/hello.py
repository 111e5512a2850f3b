"""What is done when the bot comes to a workspace, and for whoever opens its own page. The wording is in `wording`."""

from __future__ import annotations

from datetime import time

from bot.core.cards import Card, Form
from bot.core.events import Added, Event, Submit, Visited
from bot.core.markup import escape
from bot.core.wording import admin, hello
from service.client import ServiceClient, ServiceRefused
from service.wire import RoundView, ScheduleSpec, ScheduleView, Where, Who

NOWHERE = Where(channel="")
"""No channel: what is asked there is asked of the whole workspace."""


class HelloDesk:
    """The first hello, the first schedule, and every visit. All that was chosen so far is in the action."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def added(self, event: Added) -> tuple[Card, bool]:
        """The hello, and whether it is the first in this workspace."""
        first = await self._client.hello(event.who, event.id, event.where)
        return hello.hello_card(event.where), first

    async def visited(self, event: Visited) -> Card:
        """The member's own page."""
        today = await self._client.today(event.who, NOWHERE)
        return hello.home_card(today, await self._client.me(event.who), event.at)

    async def setup(self, event: Event, where: Where) -> Card:
        """Ask for the time. Refused, by the service, for whoever may not."""
        known = [one for one in await self._client.schedule_list(event.who) if one.channel == where.channel]
        return hello.time_card(where, tuple(known))

    def plan(self, event: Event, at: str, where: Where) -> Form:
        """Ask for days and zone."""
        return hello.plan_form(at, where, event.at)

    async def begin(self, event: Submit, at: str, where: Where) -> Card:
        """Add the schedule and show its first question; one that is there already is shown again."""
        spec = _spec(event, at)
        for one in await self._client.schedule_list(event.who):
            if one.channel == where.channel and one.spec == spec:
                return hello.begun_card(one, await self._first(event.who, one), "This schedule is there")
        view = await self._client.schedule_add(event.who, event.id, where, spec)
        return hello.begun_card(view, await self._first(event.who, view))

    async def _first(self, who: Who, view: ScheduleView) -> RoundView | str:
        """The schedule is kept whatever becomes of its preview."""
        try:
            return await self._client.schedule_preview(who, view.id)
        except ServiceRefused as refused:
            return escape(refused.failure.message)

    async def post_now(self, event: Event, schedule: int) -> Card:
        """Post the day's question at once."""
        return admin.round_card(await self._client.post_now(event.who, event.id, schedule), "Posted")


def _spec(event: Submit, at: str) -> ScheduleSpec:
    typed = _one(event, "other").strip()
    days = _one(event, "days") or hello.DAYS[0][0]
    return ScheduleSpec.model_validate(
        {
            "at": time(int(at[:2]), int(at[2:])),
            "weekdays": tuple(int(day) for day in days.split(",") if day.isdecimal()),
            "zone": typed or _one(event, "zone") or "UTC",
        }
    )


def _one(event: Submit, name: str) -> str:
    return next(iter(event.values.get(name, ())), "")
