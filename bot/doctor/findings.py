"""Results of checks, and the checks that every chat shares: the clock and the scheduled channels. Prints nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Place

MOST_SKEW_S = 60.0
"""Largest clock difference that is not reported, seconds: signatures and tokens expire by the chat's clock."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `cure` is the fix for a failed check, or a note on a passed one."""

    good: bool
    said: str
    cure: str = ""


class Untold(Exception):
    """The chat gave no usable answer; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.said)
        self.finding = finding


def clock_finding(date: str | None, now: datetime, whose: str = "the chat") -> Finding | None:
    """Compares our clock with the `Date` header of a response; None if the header is missing or unreadable."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    if theirs.tzinfo is None:
        return None
    skew = (now - theirs).total_seconds()
    if abs(skew) <= MOST_SKEW_S:
        return Finding(True, f"clock: within {MOST_SKEW_S:.0f} s of {whose}'s clock")
    side = "ahead of" if skew > 0 else "behind"
    said = f"clock: this machine is {abs(skew):,.0f} s {side} {whose}"
    return Finding(False, said, "synchronize it by NTP, for example: timedatectl set-ntp true")


async def places_of(service: ServiceClient | None, platform: str) -> tuple[tuple[Place, ...], Finding]:
    """Returns the scheduled channels, and a finding that says whether the service could list them."""
    if service is None:
        note = "to check them, set DAILYGRAD_SERVICE_URL and DAILYGRAD_SERVICE_TOKEN as for the bot"
        return (), Finding(True, "service: not configured, so scheduled channels were not checked", note)
    try:
        places = await service.outbox_places(platform)
    except ServiceUnavailable as error:
        cure = "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL"
        return (), Finding(False, f"service: no answer ({error})", cure)
    except ServiceRefused as error:
        return (), Finding(False, f"service: {error.failure.message}", "check DAILYGRAD_SERVICE_TOKEN")
    if not places:
        cure = "type /quiz-admin setup in a channel to create the first one"
        return (), Finding(True, "schedules: none yet", cure)
    return places, Finding(True, f"schedules: {len(places)} channel{'s' * (len(places) != 1)}")


def place_name(place: Place) -> str:
    """Returns the name of a channel for the report."""
    return f"#{place.name.removeprefix('#')}" if place.name else f"channel {place.channel}"
