"""What a reveal says of all answers does not depend on how they are cut into pages."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from service.rounds.tally import MAX_NAMED, Result, Tally
from service.store.answers import RoundEntry
from service.store.tables import AnswerRow, Member
from tests.conftest import MONDAY

ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", " three "]),
        st.sampled_from([None, 0.0, 0.5, 1.0]),
        st.integers(0, 3),
        st.integers(0, 50),
        st.booleans(),
    ),
    max_size=40,
)


def results(drawn: list[tuple[str, float | None, int, int, bool]]) -> list[Result]:
    """Results with the text, credit, points, second and hiding of each."""
    made = []
    for number, (text, credit, points, second, hidden) in enumerate(drawn):
        given = {"text": text, "options": [text.strip()[0]], "code": None}
        answer = AnswerRow(id=number, given=given, at=MONDAY + timedelta(seconds=second))
        made.append(Result(RoundEntry(answer, Member(id=number, hidden=hidden), None), credit, points))
    return made


@example([("one", 1.0, number % 3, number, False) for number in range(MAX_NAMED + 5)], 7)
@given(ANSWERS, st.integers(1, 7))
def test_pages_tell_what_all_answers_tell(drawn: list[tuple[str, float | None, int, int, bool]], size: int) -> None:
    made = results(drawn)
    tally = Tally(texts=True)
    for start in range(0, len(made), size):
        page = made[start : start + size]
        tally.add([result.entry for result in page], page)
    shown = sorted((one for one in made if not one.entry.member.hidden), key=lambda one: one.submitted)
    assert (tally.answers, tally.graded, tally.shown) == (len(made), len(made), len(shown))
    assert tally.right == sum(one.credit == 1 for one in made)
    assert tally.mean_credit == (sum(one.credit or 0 for one in made) / len(made) if made else 0)
    assert tally.first == next((one for one in shown if one.credit == 1), None)
    assert tally.best == sorted(shown, key=lambda one: -one.points)[:MAX_NAMED]
    assert tally.chosen == Counter(text.strip()[0] for text, *_ in drawn)
    wrong = Counter(text.strip() for text, credit, *_ in drawn if credit != 1)
    assert dict(tally.wrong_texts) == dict(wrong)
