"""The operations page in words: parts of it for the web chat, and all of it as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo

from bot.core.text.notices import sandbox_problem_words
from bot.core.text.words import chat_words, plural
from service.wire import ErrorView, Operations, QueueView, SandboxView, SlotView, TroubleView

_NO_WORKER = "No worker is running: nothing is posted, closed or judged. Start one: `dailygrad work`."
_NONE = "none"


def duration_text(seconds: float) -> str:
    """Formats a duration, such as `4 s`, `12 min`, `3 h 05 min` or `2 d 4 h`."""
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
    """Returns the state of a slot."""
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
        case _ as never:
            assert_never(never)


def reason_text(slot: SlotView) -> str:
    """Returns why a slot was skipped or is late; empty if unknown."""
    match slot.skipped:
        case None | "not posted":
            return slot.error or ("no bot fetched it in time" if slot.skipped else "")
        case "missed":
            return "Dailygrad was not running when it was due"
        case "no question":
            return "no question fits the schedule"
        case "needs gpu":
            return "every question that fits needs a GPU, and no sandbox has one"
        case _ as never:
            assert_never(never)


def clock_text(instant: datetime | None, zone: str, since: datetime | None = None) -> str:
    """Returns an instant in a zone, with its date unless `since` is on the same day; a dash if there is none."""
    if instant is None:
        return "–"
    local = instant.astimezone(ZoneInfo(zone))
    if since is not None and since.astimezone(ZoneInfo(zone)).date() == local.date():
        return f"{local:%H:%M:%S}"
    return f"{local:%Y-%m-%d %H:%M:%S}"


def sandbox_text(sandbox: SandboxView | None) -> str:
    """Returns the state of the sandbox in a sentence or two."""
    if sandbox is None:
        return f"{sandbox_problem_words('not connected', '')} Code answers are waiting."
    if sandbox.problem is not None:
        return f"{sandbox_problem_words(sandbox.problem, sandbox.trouble)} Code answers are waiting."
    state = (
        f"{sandbox.ready} ready, {sandbox.running} running, {sandbox.waiting} waiting; "
        f"{sandbox.isolation} isolation; devices: {', '.join(sandbox.devices)}"
    )
    wait = f"; a new run waits about {duration_text(sandbox.wait_s)}" if sandbox.waiting else ""
    trouble = f" {sandbox_problem_words('failing', sandbox.trouble)}" if sandbox.trouble else ""
    return f"{state}{wait}.{trouble}"


def queue_name(queue: QueueView) -> str:
    """Returns what waits in a queue."""
    match queue.kind:
        case "messages":
            return f"messages for {chat_words(queue.platform)}" if queue.platform else "messages"
        case "answers":
            return "code answers"
        case "jobs":
            return f"jobs {queue.status}: {queue.task}"
        case _ as never:
            assert_never(never)


def error_text(error: ErrorView) -> str:
    """Returns what failed."""
    end = "given up" if error.given_up else "will be retried"
    match error.kind:
        case "message":
            return f"{error.name}: {plural(error.attempts, 'attempt')}, {end}"
        case "verdict":
            return "a code answer could not be judged: the sandbox failed, and the member lost nothing"
        case "job":
            return f"job {error.name}: {plural(error.attempts, 'attempt')}, {end}"
        case _ as never:
            assert_never(never)


def place_text(error: ErrorView) -> str:
    """Returns where something failed."""
    place = "a private message" if error.private else error.channel
    chat = chat_words(error.platform) if error.platform else ""
    return ", ".join(part for part in (place, chat, error.workspace) if part)


def trouble_text(trouble: TroubleView) -> str:
    """Returns a problem that admins were notified about."""
    match trouble.kind:
        case "late":
            text = f"a question is late in {trouble.channel}"
        case "refused":
            text = f"{trouble.channel} refuses messages"
        case "role":
            text = "the winner's role cannot be given"
        case "sandbox":
            text = "code answers are waiting for a sandbox"
        case "revoked":
            text = f"the app was removed from {chat_words(trouble.platform)}" if trouble.platform else "app removed"
        case _ as never:
            assert_never(never)
    return f"{text}: {trouble.error}" if trouble.error else text


def queue_text(queue: QueueView, now: datetime) -> str:
    """Returns the number of entries and the age of the oldest."""
    if not queue.count or queue.oldest_at is None:
        return str(queue.count)
    return f"{queue.count}, the oldest for {duration_text(max(0.0, (now - queue.oldest_at).total_seconds()))}"


def whole_text(found: Operations) -> str:
    """Returns the whole page, in UTC."""
    return "\n".join(_lines(found))


def _lines(found: Operations) -> Iterator[str]:
    yield f"{clock_text(found.at, 'UTC')} UTC"
    yield "A worker is running." if found.led else _NO_WORKER
    yield f"Sandbox: {sandbox_text(found.sandbox)}"
    yield from _listed("Queues", [f"{queue_name(each)}: {queue_text(each, found.at)}" for each in found.queues])
    yield from _listed("Troubles", [_trouble_line(each) for each in found.troubles])
    yield from _listed("Errors of the last day", [_error_line(each) for each in found.errors])
    yield from _listed("Slots: due, fetched by a bot, posted", [_slot_line(each) for each in found.slots])


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"\n{title}"
    yield from (f"  {line}" for line in lines or (_NONE,))


def _slot_line(slot: SlotView) -> str:
    times = " → ".join(
        (
            clock_text(slot.due_at, "UTC"),
            clock_text(slot.taken_at, "UTC", slot.due_at),
            clock_text(slot.sent_at, "UTC", slot.due_at),
        )
    )
    place = " ".join(part for part in (slot.platform, slot.workspace, slot.channel) if part)
    reason = reason_text(slot)
    return f"{times}  {place}: {state_text(slot)}{f' ({reason})' if reason else ''}"


def _trouble_line(trouble: TroubleView) -> str:
    until = f"resolved at {clock_text(trouble.over_at, 'UTC')}" if trouble.over_at is not None else "open"
    return f"{clock_text(trouble.since, 'UTC')}, {until}  {trouble_text(trouble)}"


def _error_line(error: ErrorView) -> str:
    text = ": ".join(part for part in (error_text(error), place_text(error), error.error) if part)
    return f"{clock_text(error.at, 'UTC')}  {text}"
