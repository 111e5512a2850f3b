"""The oracle of the chaos test detects every kind of broken promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.diary import Act, Diary, Outcome, Slot
from tests.chaos.oracle import AnswerRow, Facts, LedgerRow, Message, OutboxRow, RoundRow, VerdictRow, violations

Forge = Callable[[Diary, Facts], object]


def act(event: str, given: str, right: bool, made: float, outcome: Outcome = "acknowledged") -> Act:
    return Act("slack", "U1", "q1" if event != "e3" else "q2", event, given, right, made, outcome)


def kept() -> tuple[Diary, Facts]:
    """Returns a small day without violations: a changed choice, a code answer, and a refused form."""
    slots = [Slot("q1", "choice", "mid", "slack", "C1"), Slot("q2", "code", "senior", "slack", "C1")]
    acts = [act("e1", "b", False, 1.0), act("e2", "a", True, 2.0), act("e3", "pass", True, 3.0)]
    refused = act("e4", "(", False, 4.0, "refused")
    diary = Diary(slots, [*acts, refused], [("U1", "Your answer is recorded"), ("U1", "Please try again")])
    facts = Facts(
        answers=[
            AnswerRow(1, "slack", "U1", "q1", 1, "e1", "b"),
            AnswerRow(2, "slack", "U1", "q1", 1, "e2", "a"),
            AnswerRow(3, "slack", "U1", "q2", 2, "e3", "pass"),
        ],
        rounds=[RoundRow(1, "q1", True), RoundRow(2, "q2", True)],
        standing={(1, "slack", "U1"): 2, (2, "slack", "U1"): 3},
        verdicts=[VerdictRow(2, 1.0), VerdictRow(3, 1.0)],
        ledger=[LedgerRow(1, "slack", "U1", 10), LedgerRow(2, "slack", "U1", 15)],
        boards={("slack", "U1"): 25},
        outbox=[
            OutboxRow("round:1:question", "question", "sent", "C1/1"),
            OutboxRow("round:2:question", "question", "sent", "C1/2"),
            OutboxRow("verdict:3", "verdict", "sent", "D1/3"),
        ],
        messages=[
            Message("slack", "C1", "C1/1", "round:1:question", "Question for Monday: q1", asks=True),
            Message("slack", "C1", "C1/2", "round:2:question", "Question for Monday: q2", asks=True),
            Message("slack", "D1", "D1/3", "verdict:3", "Your code: accepted"),
        ],
    )
    return diary, facts


def test_a_good_day_has_no_violations() -> None:
    assert violations(*kept()) == []


def test_an_answer_that_was_given_again_counts_from_the_first_time_or_the_second() -> None:
    diary, facts = kept()
    diary.acts.append(act("e5", "a", True, 5.0))
    facts.answers.append(AnswerRow(6, "slack", "U1", "q1", 1, "e5", "a"))
    assert violations(diary, facts) == []
    facts.standing[1, "slack", "U1"] = 1
    assert [broken for broken in violations(diary, facts) if "given last was 6" in broken]


def test_an_answer_nobody_saw_acknowledged_may_be_kept_or_not() -> None:
    diary, facts = kept()
    diary.acts[1].outcome = "unknown"
    assert violations(diary, facts) == []
    diary.acts.append(act("e5", "b", False, 5.0, "unknown"))
    assert violations(diary, facts) == []


@pytest.mark.parametrize(
    ("forge", "named"),
    [
        (lambda _, f: f.rounds.pop(), "slot q2: 0 rounds were made"),
        (lambda _, f: f.rounds.append(RoundRow(3, "q1", True)), "slot q1: 2 rounds were made"),
        (lambda _, f: f.rounds.append(RoundRow(3, "q9", True)), "round 3: no slot was due"),
        (lambda _, f: f.rounds.append(replace(f.rounds.pop(), closed=False)), "slot q2: never closed"),
        (lambda _, f: f.messages.pop(0), "slot q1: posted 0 times"),
        (lambda _, f: f.messages.append(replace(f.messages[0], ref="C1/9", key="")), "slot q1: posted 2 times"),
        (lambda _, f: f.messages.append(replace(f.messages[0], channel="C2", key="")), "channel that is not its own"),
        (lambda _, f: f.messages.append(replace(f.messages[2], ref="D1/9")), "message verdict:3 on slack: stands 2"),
        (lambda _, f: f.outbox.append(OutboxRow("notice", "notice", "due", "")), "message notice: left due"),
        (lambda _, f: f.outbox.append(OutboxRow("n", "notice", "sent", "C1/7")), "does not stand at C1/7"),
        (lambda _, f: f.untold.append("slack:7"), "event slack:7: taken by a bot and never answered"),
        (lambda _, f: f.answers.pop(0), "answer e1: acknowledged to U1 and lost"),
        (lambda d, _: setattr(d.acts[1], "outcome", "refused"), "answer e2: refused to U1 and kept"),
        (lambda _, f: f.answers.append(replace(f.answers[0], id=4)), "answer e1: 2 times in the log"),
        (lambda _, f: f.answers.append(AnswerRow(5, "slack", "U1", "q1", 1, "e9", "a")), "answer e9: nobody gave it"),
        (lambda _, f: f.answers.append(replace(f.answers.pop(), member="U2")), "answer e3: kept as one of U2"),
        (lambda _, f: f.answers.append(replace(f.answers.pop(), given="x")), "answer e3: kept as 'x'"),
        (lambda _, f: f.answers.append(replace(f.answers.pop(), round=None)), "answer e3: acknowledged as the round's"),
        (lambda d, _: setattr(d.acts[1], "outcome", "late"), "answer e2: called late and counted"),
        (lambda _, f: f.standing.update({(1, "slack", "U1"): 1}), "answer 1 counts, given last was 2"),
        (lambda _, f: f.standing.pop((1, "slack", "U1")), "answer None counts, given last was 2"),
        (lambda _, f: f.standing.update({(1, "slack", "U2"): 8}), "an answer counts that is not in the log"),
        (lambda _, f: f.verdicts.append(VerdictRow(3, 1.0)), "answer e3: 2 verdicts"),
        (lambda _, f: f.verdicts.pop(), "answer e3: never judged"),
        (lambda _, f: f.verdicts.pop(0), "answer e2: never judged"),
        (lambda _, f: f.verdicts.append(replace(f.verdicts.pop(), credit=0.0)), "answer e3: judged 0.0"),
        (lambda _, f: f.outbox.pop(), "answer e3: its author was not told"),
        (lambda _, f: f.ledger.pop(), "15 points were never booked"),
        (lambda _, f: f.ledger.append(f.ledger[0]), "10 points were booked that nobody earned"),
        (lambda _, f: f.ledger.append(LedgerRow(1, "slack", "U2", 3)), "3 points were booked that nobody earned"),
        (lambda _, f: f.boards.update({("slack", "U1"): 24}), "shows 24, the ledger has 25"),
        (lambda _, f: f.boards.clear(), "shows None, the ledger has 25"),
        (lambda d, _: d.shown.append(("U1", "Internal Server Error")), "U1 was shown 'Internal Server Error'"),
        (lambda d, _: d.shown.append(("U1", "the service failed (500)")), "U1 was shown '500'"),
        (lambda d, _: d.unanswerable.append("U1 could not answer q1"), "U1 could not answer q1"),
        (lambda _, f: f.complaints.append("Discord: no such route"), "Discord: no such route"),
        (lambda _, f: f.left.append("process 7 (python)"), "left behind: process 7"),
    ],
)
def test_every_kind_of_violation_is_named(forge: Forge, named: str) -> None:
    diary, facts = kept()
    forge(diary, facts)
    assert any(named in broken for broken in violations(diary, facts)), violations(diary, facts)
