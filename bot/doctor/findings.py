"""What a doctor found, as data, and the checks that are alike for every chat: the clock, the service. No printing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Place

MOST_SKEW_S = 60.0
"""Seconds this machine's clock may be off: answers carry the chat's own instants, signatures and tokens run out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `cure` says how to mend what is not `good`, or what to know."""

    good: bool
    said: str
    cure: str = ""


class Untold(Exception):
    """The chat cannot be asked at all; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.said)
        self.finding = finding


def clock_finding(date: str | None, now: datetime, whose: str = "the chat") -> Finding | None:
    """Whether our clock agrees with the `Date` header of an answer; None where it has none that can be read."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    if theirs.tzinfo is None:
        return None
    skew = (now - theirs).total_seconds()
    if abs(skew) <= MOST_SKEW_S:
        return Finding(True, f"clock: within {MOST_SKEW_S:.0f} s of {whose}'s")
    side = "ahead of" if skew > 0 else "behind"
    said = f"clock: this machine is {abs(skew):,.0f} s {side} {whose}"
    return Finding(False, said, "set it by NTP, for example: timedatectl set-ntp true")


async def places_of(service: ServiceClient | None, platform: str) -> tuple[tuple[Place, ...], Finding]:
    """The scheduled channels, and whether the service could be asked for them."""
    if service is None:
        note = "set DAILYGRAD_SERVICE_URL and DAILYGRAD_SERVICE_TOKEN as for the bot; `dailygrad run` needs neither"
        return (), Finding(True, "service: it is not named, so the channels of schedules are not checked", note)
    try:
        places = await service.outbox_places(platform)
    except ServiceUnavailable as error:
        cure = "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL"
        return (), Finding(False, f"service: it does not answer ({error})", cure)
    except ServiceRefused as error:
        return (), Finding(False, f"service: {error.failure.message}", "check DAILYGRAD_SERVICE_TOKEN")
    if not places:
        cure = "/quiz-admin setup in a channel makes the first schedule"
        return (), Finding(True, "schedules: no channel has one yet", cure)
    return places, Finding(True, f"schedules: they post to {len(places)} channel{'s' * (len(places) != 1)}")


def place_name(place: Place) -> str:
    """A channel as the report names it."""
    return f"#{place.name.removeprefix('#')}" if place.name else f"channel {place.channel}"
