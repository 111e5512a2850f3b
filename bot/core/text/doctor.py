"""The doctor in the chat: what was checked, what was found, and how to fix what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never

from bot.core.cards import Card, Table, Text
from bot.core.channel_access import ChannelProblem, RoleProblem
from bot.core.markup import escape
from bot.core.text.boards import role_problem_words
from bot.core.text.notices import sandbox_problem_words
from bot.core.text.onboarding import channel_problem_words
from bot.core.text.operations import trouble_text
from bot.core.text.words import chat_words, local, plural
from service.wire import (
    BankCheck,
    ClockCheck,
    DatabaseCheck,
    MessagesCheck,
    NoScheduleCheck,
    QuestionsCheck,
    SandboxCheck,
    SchemaCheck,
    SlotsCheck,
    TroubleCheck,
    TroubleKind,
    TroubleView,
    WorkspaceCheck,
)

_TROUBLE_NAMES: Mapping[TroubleKind, str] = {
    "late": "question",
    "refused": "channel",
    "sandbox": "judging",
    "revoked": "app",
    "role": "winner's role",
}


class CheckWords(NamedTuple):
    """A check in words. Plain text, except for commands in backticks."""

    name: str
    found: str
    fix: str
    """What to do if the check failed."""


def doctor_card(
    checks: tuple[WorkspaceCheck, ...],
    channels: Sequence[tuple[str, ChannelProblem]] = (),
    role: RoleProblem | None = None,
) -> Card:
    """Whether everything works, and how to fix what does not. `channels` are those in which the bot cannot post, and
    `role` is why it cannot give the winner's role."""
    words = [(check.ok, check_words(check)) for check in checks]
    words += [(False, _channel(name, problem)) for name, problem in channels]
    if role is not None:
        words.append((False, CheckWords("winner's role", role, role_problem_words(role))))
    rows = tuple((each.name, "ok" if ok else "FAILED", each.found) for ok, each in words)
    fixes = tuple(Text(f"**{escape(each.name)}:** {each.fix}") for ok, each in words if not ok)
    summary = f"{plural(len(fixes), 'check')} failed." if fixes else "Everything works."
    return Card("Doctor", summary, (Text(summary), Table(("Check", "State", "Found"), rows), *fixes))


def check_words(check: WorkspaceCheck) -> CheckWords:
    """Returns a check in words."""
    match check:
        case DatabaseCheck(version=version):
            return CheckWords("database", f"PostgreSQL {version} answers", "")
        case SchemaCheck(found=found, needed=needed):
            fix = f"Ask the operator to run `dailygrad migrate`: this version needs the schema {needed}."
            return CheckWords("migrations", f"the schema is at {found}", fix)
        case ClockCheck(skew_s=skew_s):
            found = f"{skew_s:.1f} s between the service's clock and the database's"
            return CheckWords("clock", found, "Ask the operator to synchronize both machines' clocks by NTP.")
        case SandboxCheck():
            return _sandbox(check)
        case BankCheck(questions=questions, waiting_for_gpu=waiting):
            gpu = f"; {waiting:,} more once a sandbox has a GPU" if waiting else ""
            found = f"{plural(questions, 'question')} can be asked{gpu}"
            return CheckWords("bank", found, "Import questions with `/quiz-admin bank import`.")
        case QuestionsCheck(schedule=schedule, channel=channel, left=left):
            return CheckWords(
                f"schedule {schedule} in {channel}: questions",
                f"{plural(left, 'slot')} until one is repeated",
                "Import more questions with `/quiz-admin bank import`, or widen the schedule's topics, levels and "
                "kinds with `/quiz-admin schedule edit`.",
            )
        case SlotsCheck():
            return _slots(check)
        case NoScheduleCheck():
            fix = "Add one with `/quiz-admin schedule add` in the quiz channel."
            return CheckWords("schedules", "none, so nothing is posted", fix)
        case MessagesCheck():
            return _messages(check)
        case TroubleCheck(trouble=trouble):
            return CheckWords(_TROUBLE_NAMES[trouble.kind], trouble_text(trouble), _trouble_fix(trouble))
        case _ as never:
            assert_never(never)


def _sandbox(check: SandboxCheck) -> CheckWords:
    if check.problem is not None:
        found = f"{sandbox_problem_words(check.problem, check.trouble)} Code answers are waiting."
        fix = (
            "Ask the operator to start `dailygrad sandbox serve` and name its socket in `DAILYGRAD_SANDBOX_SOCKET`, or "
            "name workers that reach it in `DAILYGRAD_WORKER_URL`."
        )
        return CheckWords("sandbox", found, fix)
    torch = f", torch {check.torch}" if check.torch else ""
    state = f"{check.ready} ready, {check.isolation} isolation{torch}"
    if check.trouble:
        return CheckWords("sandbox", f"{state}; {check.trouble}", "Ask the operator to read the sandbox's log.")
    found = "; ".join(part for part in (state, *check.lacks, check.gpu and f"GPU: {check.gpu}") if part)
    return CheckWords("sandbox", found, "Ask the operator to install or turn on what is missing.")


def _slots(check: SlotsCheck) -> CheckWords:
    name = f"schedule {check.schedule} in {check.channel}: next"
    if check.paused:
        return CheckWords(name, "paused", "")
    slots = [local(slot, check.zone) for slot in check.next]
    dates = ", ".join(f"{slot:%a %Y-%m-%d %H:%M}" for slot in slots)
    found = f"{dates} {check.zone}" if slots else "no slot within a year"
    fix = "Its holidays and skipped days leave no date. Change it with `/quiz-admin schedule edit`."
    return CheckWords(name, found, fix)


def _messages(check: MessagesCheck) -> CheckWords:
    if not check.waiting:
        return CheckWords("messages", "none are waiting", "")
    error = f": {check.error}" if check.error else ""
    found = f"{plural(check.waiting, 'message')} waiting, the oldest for {check.age_s:.0f} s{error}"
    return CheckWords("messages", found, "Check that the bot is running and may write in the channel.")


def _channel(name: str, problem: ChannelProblem) -> CheckWords:
    return CheckWords(f"posting in {name}", problem.reason, channel_problem_words(problem))


def _trouble_fix(trouble: TroubleView) -> str:
    match trouble.kind:
        case "late":
            return "Check that the bot is running and may write in the channel. It is still being tried."
        case "refused":
            return (
                "The error above says what to change. What waits is posted as soon as that is done; "
                "`/quiz-admin schedule post-now` posts a question that was given up."
            )
        case "role":
            return (
                "The error above says what to change; the winner is announced as soon as that is done. "
                "`/quiz-admin season role`, and `sprint role` and `tournament role`, name another role, or `none`."
            )
        case "sandbox":
            return "Ask the operator to start `dailygrad sandbox serve` and read its log. No answer is lost."
        case "revoked":
            chat = chat_words(trouble.platform) if trouble.platform else "the chat"
            return f"Add the app to {chat} again. Its schedules post nothing there until then."
        case _ as never:
            assert_never(never)
