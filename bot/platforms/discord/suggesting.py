"""What Discord offers while an option is typed: words of its kind, and what the workspace has. Never an error."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import available_timezones

from bot.core.commands import Argument, Spec, kinds, specs_of
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Who

_LOG = logging.getLogger(__name__)

Offer = tuple[str, str]
"""What is shown, and the value it stands for."""

_MOST = 25
_LONGEST = 100
# The list is drawn anew at every letter: a slow service is not waited for.
_PATIENCE_S = 1.0
_KEPT = timedelta(minutes=2)
_WORKSPACES = 256


class Suggester:
    """Offers values. What the service says of a workspace is kept for two minutes, of at most so many workspaces."""

    def __init__(self, client: ServiceClient, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        _zones()  # now, and not while somebody waits: they are read from many files
        self._kept: OrderedDict[tuple[str, str], tuple[datetime, list[Offer]]] = OrderedDict()

    async def offers(self, who: Who, spec: Spec, argument: Argument, typed: str) -> list[Offer]:
        """At most 25 values that go on from what is typed."""
        known = [(word, word) for word in _words(spec, argument)] or await self._of_workspace(who, spec, argument)
        wanted = typed.strip().lower()
        begin = [one for one in known if one[0].lower().startswith(wanted)]
        hold = [one for one in known if wanted in one[0].lower() and one not in begin]
        return [(shown[:_LONGEST], value) for shown, value in (*begin, *hold) if 0 < len(value) <= _LONGEST][:_MOST]

    async def _of_workspace(self, who: Who, spec: Spec, argument: Argument) -> list[Offer]:
        ask = self._asking(who, spec, argument)
        if ask is None or not who.workspace:
            return []
        key = (who.workspace, argument.name)
        at, offers = self._kept.get(key, (None, []))
        if at is not None and self._clock() - at < _KEPT:
            return offers
        try:
            async with asyncio.timeout(_PATIENCE_S):
                offers = await ask()
        except (TimeoutError, ServiceRefused, ServiceUnavailable) as error:
            _LOG.info("nothing can be offered for %s: %s", argument.name, error)
            return offers
        self._kept[key] = (self._clock(), offers)
        self._kept.move_to_end(key)
        while len(self._kept) > _WORKSPACES:
            self._kept.popitem(last=False)
        return offers

    def _asking(self, who: Who, spec: Spec, argument: Argument) -> Callable[[], Awaitable[list[Offer]]] | None:
        if argument.name == "topic":
            return lambda: self._topics(who)
        if argument.name == "schedule" and who.admin:
            return lambda: self._schedules(who)
        return None

    async def _topics(self, who: Who) -> list[Offer]:
        return [(one.topic, one.topic) for one in await self._client.topics(who)]

    async def _schedules(self, who: Who) -> list[Offer]:
        return [
            (f"{one.id}: {one.channel_name or one.channel} at {one.spec.at:%H:%M}", str(one.id))
            for one in await self._client.schedule_list(who)
        ]


@cache
def _zones() -> tuple[str, ...]:
    return (*kinds.ZONE.choices, *sorted(available_timezones() - set(kinds.ZONE.choices)))


def _words(spec: Spec, argument: Argument) -> Sequence[str]:
    """The words of the argument's kind, the likeliest first."""
    if argument.kind is kinds.ZONE:
        return _zones()
    if argument.name == "command":
        return [" ".join(one.path) for one in specs_of(spec.name)]
    return argument.kind.choices
