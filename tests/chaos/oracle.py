"""Finds broken promises from the diary and the facts.

Shares no code with the product: the rules are implemented a second time, as a member would check them by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from tests.chaos.diary import BASE, Act, Diary, Slot

JARGON = re.compile(
    r"Traceback|Internal Server Error|\b50[0-4]\b|psycopg|sqlalchemy|httpx|asyncio|went wrong on our side"
)
"""Words that no member may read: after an internal error they are only asked to try again."""


@dataclass(frozen=True)
class AnswerRow:
    """A row of the answers log."""

    id: int
    chat: str
    member: str
    mark: str
    round: int | None
    event: str
    given: str


@dataclass(frozen=True)
class RoundRow:
    """The round of a slot."""

    id: int
    mark: str
    closed: bool


@dataclass(frozen=True)
class VerdictRow:
    """The verdict of an answer."""

    answer: int
    credit: float


@dataclass(frozen=True)
class LedgerRow:
    """Points in the ledger."""

    round: int | None
    chat: str
    member: str
    points: int


@dataclass(frozen=True)
class OutboxRow:
    """A message of the outbox, and where the service believes it was posted."""

    key: str
    kind: str
    state: str
    ref: str


@dataclass(frozen=True)
class Message:
    """A bot's message in a chat, with the key it was posted under, if any."""

    chat: str
    channel: str
    ref: str
    key: str
    text: str
    asks: bool = False
    """Whether it is a question in a channel."""


@dataclass
class Facts:
    """The final state of the database, the chats and the machine."""

    answers: list[AnswerRow] = field(default_factory=list)
    rounds: list[RoundRow] = field(default_factory=list)
    standing: dict[tuple[int, str, str], int] = field(default_factory=dict)
    """The answer that counts, by round, chat and member."""
    verdicts: list[VerdictRow] = field(default_factory=list)
    ledger: list[LedgerRow] = field(default_factory=list)
    boards: dict[tuple[str, str], int] = field(default_factory=dict)
    """Points on the board, by chat and member."""
    outbox: list[OutboxRow] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    """Events that a bot received and never answered."""
    left: list[str] = field(default_factory=list)
    """Processes, mounts, sockets and control groups that outlived their creators."""
    complaints: list[str] = field(default_factory=list)
    """Violations of the chats' rules by a bot."""


def violations(diary: Diary, facts: Facts) -> list[str]:
    """Describes every broken promise."""
    checks = (_slots, _posts, _log, _counted, _judged, _booked, _boards, _shown, _nothing_left)
    return [broken for check in checks for broken in check(diary, facts)]


def _slots(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that every slot was posted once, in its channel only."""
    rounds = Counter(row.mark for row in facts.rounds)
    for slot in diary.slots:
        if rounds[slot.mark] != 1:
            yield f"slot {slot.mark}: {rounds[slot.mark]} rounds were made of it"
        posts = [one for one in facts.messages if one.asks and slot.mark in one.text]
        here = [one for one in posts if (one.chat, one.channel) == (slot.chat, slot.channel)]
        if len(here) != 1:
            yield f"slot {slot.mark}: posted {len(here)} times in its channel"
        if len(posts) != len(here):
            yield f"slot {slot.mark}: posted in a channel that is not its own"
    known = {slot.mark for slot in diary.slots}
    for row in facts.rounds:
        if row.mark not in known:
            yield f"round {row.id}: no slot was due for it"
        elif not row.closed:
            yield f"slot {row.mark}: never closed"


def _posts(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that every message is where the service believes, and only once."""
    standing = {one.ref for one in facts.messages}
    for row in facts.outbox:
        if row.state != "sent":
            yield f"message {row.key}: left {row.state}"
        elif row.ref not in standing:
            yield f"message {row.key}: marked sent, and does not stand at {row.ref}"
    for (chat, key), times in Counter((one.chat, one.key) for one in facts.messages if one.key).items():
        if times > 1:
            yield f"message {key} on {chat}: stands {times} times"
    for event in facts.untold:
        yield f"event {event}: taken by a bot and never answered"


def _log(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that acknowledged answers are logged once, refused ones are not, and there are no others."""
    rows: dict[str, list[AnswerRow]] = {}
    for row in facts.answers:
        rows.setdefault(row.event, []).append(row)
    for act in diary.acts:
        found = rows.pop(act.event, [])
        if act.outcome in ("acknowledged", "late") and not found:
            yield f"answer {act.event}: acknowledged to {act.member} and lost"
        if act.outcome == "refused" and found:
            yield f"answer {act.event}: refused to {act.member} and kept all the same"
        if len(found) > 1:
            yield f"answer {act.event}: {len(found)} times in the log"
        for row in found:
            yield from _as_given(act, row)
    for event in rows:
        yield f"answer {event}: nobody gave it"


def _as_given(act: Act, row: AnswerRow) -> Iterator[str]:
    if (row.chat, row.member, row.mark) != (act.chat, act.member, act.mark):
        yield f"answer {act.event}: kept as one of {row.member} to {row.mark}"
    if row.given.strip() != act.given.strip():
        yield f"answer {act.event}: kept as {row.given!r}, given as {act.given!r}"
    if act.outcome == "acknowledged" and row.round is None:
        yield f"answer {act.event}: acknowledged as the round's and kept as practice"
    if act.outcome == "late" and row.round is not None:
        yield f"answer {act.event}: called late and counted"


def _counted(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that a member's last answer to a round counts; where it was given several times in a row, any of them."""
    answered = _answered(diary, facts)
    for (round_, chat, member), rows in answered.items():
        last = rows[-1]
        again = {row.id for row in _given_last(rows)}
        may_count = {last.id} if diary.slot(last.mark).kind == "code" else again
        counts = facts.standing.get((round_, chat, member))
        if counts not in may_count:
            yield f"round {round_}, {member}: answer {counts} counts, given last was {last.id}"
    for key in facts.standing:
        if key not in answered:
            yield f"round {key[0]}, {key[2]}: an answer counts that is not in the log"


def _given_last(rows: list[AnswerRow]) -> list[AnswerRow]:
    """Returns the answers at the end that are the same."""
    newest = rows[-1].given.strip()
    return list(takewhile(lambda row: row.given.strip() == newest, reversed(rows)))


def _answered(diary: Diary, facts: Facts) -> dict[tuple[int, str, str], list[AnswerRow]]:
    """Returns the answers to each round by each member, in the order in which they were given."""
    made = {act.event: act.made for act in diary.acts}
    answered: dict[tuple[int, str, str], list[AnswerRow]] = {}
    for row in sorted((row for row in facts.answers if row.event in made), key=lambda row: made[row.event]):
        if row.round is not None:
            answered.setdefault((row.round, row.chat, row.member), []).append(row)
    return answered


def _judged(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that every code answer, and every counted answer, has one correct verdict, and that authors of code
    were told it."""
    given = {act.event: act for act in diary.acts}
    told = {row.key for row in facts.outbox if row.kind == "verdict"}
    counting = set(facts.standing.values())
    for row in facts.answers:
        if row.event not in given:
            continue
        credits = [verdict.credit for verdict in facts.verdicts if verdict.answer == row.id]
        is_code = diary.slot(row.mark).kind == "code"
        if len(credits) > 1:
            yield f"answer {row.event}: {len(credits)} verdicts"
        if not credits and (is_code or row.id in counting or row.round is None):
            yield f"answer {row.event}: never judged"
        if credits and credits[0] != float(given[row.event].right):
            yield f"answer {row.event}: judged {credits[0]}, and {given[row.event].given!r} is worth the other"
        if is_code and f"verdict:{row.id}" not in told:
            yield f"answer {row.event}: its author was not told the verdict"


def _booked(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that the ledger has exactly the points that the rules give for each counted answer."""
    given = {act.event: act for act in diary.acts}
    marks = {row.id: row.mark for row in facts.rounds}
    wanted: Counter[tuple[int, str, str, int]] = Counter()
    for (round_, chat, member), rows in _answered(diary, facts).items():
        if round_ in marks:
            wanted[round_, chat, member, _worth(diary.slot(marks[round_]), given[rows[-1].event])] += 1
    booked = Counter((row.round or 0, row.chat, row.member, row.points) for row in facts.ledger)
    for round_, _, member, points in (wanted - booked).elements():
        yield f"round {round_}, {member}: {points} points were never booked"
    for round_, _, member, points in (booked - wanted).elements():
        yield f"round {round_}, {member}: {points} points were booked that nobody earned"


def _worth(slot: Slot, act: Act) -> int:
    return BASE[slot.level] if act.right else 0


def _boards(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that every board shows the sums of the ledger. Members without points are on none."""
    sums: Counter[tuple[str, str]] = Counter()
    for row in facts.ledger:
        sums[row.chat, row.member] += row.points
    for key in {*sums, *facts.boards}:
        if facts.boards.get(key) != (sums[key] or None):
            yield f"board of {key[0]}, {key[1]}: shows {facts.boards.get(key)}, the ledger has {sums[key]}"


def _shown(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that members read only friendly messages about problems, and that everyone could submit an answer."""
    for member, text in diary.shown:
        if found := JARGON.search(text):
            yield f"{member} was shown {found[0]!r}: {text[:200]!r}"
    yield from diary.unanswerable
    yield from facts.complaints


def _nothing_left(diary: Diary, facts: Facts) -> Iterator[str]:
    """Checks that killed processes left nothing behind."""
    for what in facts.left:
        yield f"left behind: {what}"
