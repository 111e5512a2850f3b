"""How the quiz runs, in words: of one slot, of a delay, of the sandbox, and all of it as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from service.wire import ErrorView, Operations, QueueView, SandboxView, SlotView, TroubleView

_NO_WORKER = "No worker leads: nothing is posted, closed or judged. Start one: `dailygrad work`."
_NONE = "none"


def duration_text(seconds: float) -> str:
    """`4 s`, `12 min`, `3 h 05 min`, `2 d 4 h`."""
    whole = int(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, hours = whole // 60, whole // 3600
    if minutes < 120:
        return f"{minutes} min"
    if hours < 48:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def state_text(slot: SlotView) -> str:
    """What has become of a slot."""
    match slot.state:
        case "posted":
            return "posted on time"
        case "late":
            return f"posted {duration_text(slot.late_s)} late"
        case "waiting":
            return "on its way"
        case "overdue":
            return f"overdue for {duration_text(slot.late_s)}"
        case "skipped":
            return "not posted"


def clock_text(instant: datetime | None, zone: str, since: datetime | None = None) -> str:
    """An instant in a zone, with its date where it is none of the day `since` is of; a dash for none."""
    if instant is None:
        return "–"
    local = instant.astimezone(ZoneInfo(zone))
    if since is not None and since.astimezone(ZoneInfo(zone)).date() == local.date():
        return f"{local:%H:%M:%S}"
    return f"{local:%Y-%m-%d %H:%M:%S}"


def sandbox_text(sandbox: SandboxView | None) -> str:
    """How the sandbox is, in a sentence or two."""
    if sandbox is None:
        return "None is connected, so code answers wait."
    if not sandbox.up:
        return f"None answers, so code answers wait: {sandbox.trouble}."
    said = (
        f"{sandbox.ready} ready, {sandbox.running} at work, {sandbox.waiting} waiting; "
        f"isolation {sandbox.isolation}; computes on {' and '.join(sandbox.devices)}"
    )
    wait = f"; a run that comes now waits about {duration_text(sandbox.wait_s)}" if sandbox.waiting else ""
    trouble = f" Trouble: {sandbox.trouble}." if sandbox.trouble else ""
    return f"{said}{wait}.{trouble}"


def queue_text(queue: QueueView, now: datetime) -> str:
    """How many wait, and since when the oldest does."""
    if not queue.count or queue.oldest_at is None:
        return str(queue.count)
    return f"{queue.count}, the oldest for {duration_text(max(0.0, (now - queue.oldest_at).total_seconds()))}"


def whole_text(found: Operations) -> str:
    """All of it, in UTC."""
    return "\n".join(_lines(found))


def _lines(found: Operations) -> Iterator[str]:
    yield f"{clock_text(found.at, 'UTC')} UTC"
    yield "A worker leads." if found.led else _NO_WORKER
    yield f"Sandbox: {sandbox_text(found.sandbox)}"
    yield from _listed("What waits", [f"{each.name}: {queue_text(each, found.at)}" for each in found.queues])
    yield from _listed("Troubles", [_trouble_text(each) for each in found.troubles])
    yield from _listed("Errors of the last day", [_error(each) for each in found.errors])
    yield from _listed("Slots: due, in a bot's hand, confirmed", [_slot(each) for each in found.slots])


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"\n{title}"
    yield from (f"  {line}" for line in lines or (_NONE,))


def _slot(slot: SlotView) -> str:
    times = " → ".join(
        (
            clock_text(slot.due_at, "UTC"),
            clock_text(slot.taken_at, "UTC", slot.due_at),
            clock_text(slot.sent_at, "UTC", slot.due_at),
        )
    )
    place = " ".join(part for part in (slot.platform, slot.workspace, slot.channel) if part)
    return f"{times}  {place}: {state_text(slot)}{f' ({slot.said})' if slot.said else ''}"


def _trouble_text(trouble: TroubleView) -> str:
    until = f"over at {clock_text(trouble.over_at, 'UTC')}" if trouble.over_at is not None else "not over"
    said = ": ".join(part for part in (trouble.what, trouble.where, trouble.said) if part)
    return f"{clock_text(trouble.since, 'UTC')}, {until}  {said}"


def _error(error: ErrorView) -> str:
    said = ": ".join(part for part in (error.what, error.where, error.said) if part)
    return f"{clock_text(error.at, 'UTC')}  {said}"
