"""Options keep their ids through edits of a document that writes none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from questions.ids import nth_letter
from questions.model import Option, Question, SourceLocation
from service.domain.import_plan import QuestionMatcher, StoredQuestion, digest_of
from service.domain.option_ids import keep_option_ids

VIEW, COPY, NOTHING = "It returns a view.", "It copies the data.", "Nothing happens."


def asking(*texts: str, ids: str = "", draw: str = "") -> Question:
    """Returns a choice between the texts, whose ids are letters by position unless `ids` has others."""
    named = ids.split() or map(nth_letter, range(len(texts)))
    options = tuple(Option(id_, text, text == VIEW) for id_, text in zip(named, texts, strict=True))
    place = SourceLocation("bank.md", 3, 9)
    return replace(Question("views", "choice", "What does it do?", place), options=options, draw=draw)


def kept(after: Question, before: Question) -> str:
    """Returns the ids that the options of the edited question have."""
    return " ".join(one.id for one in keep_option_ids(after, before).options)


@pytest.mark.parametrize(
    ("after", "ids"),
    [
        ([VIEW, COPY, NOTHING], "a b c"),
        ([NOTHING, VIEW, COPY], "c a b"),
        (["It raises.", VIEW, COPY, NOTHING], "d a b c"),
        ([COPY, VIEW], "b a"),
        ([VIEW, "It copies the data", NOTHING], "a b c"),
        (["It copies the  data, always.", "It raises.", VIEW, NOTHING], "b d a c"),
        ([VIEW, "42", NOTHING], "a b c"),
        (["42", VIEW], "d a"),
        (["1", "2", "3", "4"], "d e f g"),
        ([VIEW, VIEW, NOTHING], "a b c"),
    ],
    ids=["unchanged", "moved", "added", "removed", "edited", "edited and moved", "replaced", "fewer", "all", "double"],
)
def test_an_option_is_the_one_that_says_the_same(after: list[str], ids: str) -> None:
    assert kept(asking(*after), asking(VIEW, COPY, NOTHING)) == ids


def test_ids_that_the_author_wrote_stay() -> None:
    before = asking(VIEW, COPY, ids="view copy")
    assert kept(asking(COPY, VIEW, ids="view copy"), before) == "view copy"
    assert kept(asking(COPY, VIEW), before) == "copy view", "without them the bank's ids go on"


def test_other_questions_are_left_as_they_are() -> None:
    family = asking(COPY, VIEW, draw="def draw(rng): ...")
    assert keep_option_ids(family, asking(VIEW, COPY)) is family
    bare = replace(asking(), kind="value", answer="3")
    assert keep_option_ids(bare, asking(VIEW, COPY)) is bare


def test_the_same_document_changes_nothing_again() -> None:
    first, edited = asking(VIEW, COPY), asking(NOTHING, COPY, VIEW)
    second = keep_option_ids(edited, first)
    stored = StoredQuestion(1, "views", 2, digest_of(second), retired=False)
    (found,) = QuestionMatcher([edited], [stored]).match({1: second}).pairs
    assert found == (second, stored) and digest_of(found[0]) == stored.digest
