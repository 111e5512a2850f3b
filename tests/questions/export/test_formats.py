"""Every format a bank is written in: read again it keeps prompts, options, keys and reasons."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import sqlite3
import zipfile
from importlib import resources
from pathlib import Path

import pytest
from anki import collection
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Bank, Option, Question, as_data, read_bank
from questions.blocks import plain
from questions.export import FORMATS, ExportFormat, export_bank, unsupported_questions
from questions.export.anki import FIELDS
from questions.export.common import tags_of
from questions.export.gift import gift_bank
from questions.model import SourceLocation

BANK = read_bank((Path(str(resources.files("questions"))) / "banks" / "pytorch-core.md").read_bytes(), name="a.md").bank
ASKED = tuple(question for question in BANK.questions if not question.draw)
NOWHERE = SourceLocation("", 0, 0)
OTHERS: list[ExportFormat] = ["csv", "gift", "anki"]

TEXT = st.text(st.sampled_from("ab1 é*_`[]()<>!#&{}~\\|-+.=:'\",;/%$@\n"), min_size=1, max_size=25)
SHORT = TEXT.map(str.strip).filter(lambda text: bool(plain(text)))
OPTIONS = st.lists(st.tuples(SHORT, st.booleans(), st.one_of(st.just(""), SHORT)), min_size=2, max_size=5).map(
    lambda many: tuple(Option(chr(97 + index), text, right, why) for index, (text, right, why) in enumerate(many))
)


def apart(options: tuple[Option, ...]) -> bool:
    return any(option.right for option in options) and len({plain(option.text) for option in options}) == len(options)


CHOICES = st.builds(
    Question,
    id=st.just("a-b"),
    kind=st.just("choice"),
    prompt=SHORT,
    place=st.just(NOWHERE),
    why=st.one_of(st.just(""), SHORT),
    options=OPTIONS.filter(apart),
    topic=st.sampled_from(["", "nets", "tensors/memory"]),
    level=st.sampled_from([None, "mid"]),
    tags=st.sampled_from([(), ("two-words", "b")]),
)


def again(bank: Bank, format: ExportFormat) -> Bank:
    return read_bank(export_bank(bank, format), name=f"again{FORMATS[format].suffix}").bank


def keys(question: Question) -> list[tuple[str, bool]]:
    return [(plain(option.text), option.right) for option in question.options]


@pytest.mark.parametrize("format", OTHERS)
def test_a_shipped_bank_keeps_what_is_asked_and_what_is_right(format: ExportFormat) -> None:
    read = {question.id: question for question in again(BANK, format).questions}
    assert sorted(read) == sorted(question.id for question in ASKED)
    for question in ASKED:
        other = read[question.id]
        assert plain(other.prompt).startswith(plain(question.prompt)[:60])
        assert keys(other) == keys(question)
        assert [plain(option.reason) for option in other.options] == [plain(one.reason) for one in question.options]
        assert (other.topic, other.level) == (question.topic, question.level)
        if question.kind == "value":
            assert (question.answer or "") in (other.answer or "")
        elif question.kind != "code" and question.answer:
            assert plain(question.answer)[:40] in plain(other.answer or "")


def test_json_loses_nothing() -> None:
    read = again(BANK, "json")
    assert (read.name, read.title, read.license) == (BANK.name, BANK.title, BANK.license)
    for question, other in zip(BANK.questions, read.questions, strict=True):
        blocks = tuple(dataclasses.replace(one, line=other.place.line) for one in question.code_blocks)
        assert other == dataclasses.replace(question, place=other.place, code_blocks=blocks)
    data = json.loads(export_bank(BANK, "json"))
    assert (data["format"], data["version"]) == ("dailygrad-bank", 1)
    assert data["questions"] == json.loads(json.dumps([as_data(question) for question in BANK.questions]))


@settings(max_examples=80)
@given(CHOICES, st.sampled_from(["csv", "gift"]))
def test_any_choice_survives(question: Question, format: ExportFormat) -> None:
    (other,) = again(Bank("x", "X", (question,)), format).questions
    assert (other.prompt, other.why, other.topic, other.level, other.tags) == (
        question.prompt,
        question.why,
        question.topic,
        question.level,
        question.tags,
    )
    assert [(option.text, option.right, option.reason) for option in other.options] == [
        (option.text, option.right, option.reason) for option in question.options
    ]


WORDS = st.sampled_from(
    ["a `b`", "**c** *d*", "x < y & z", "`<b>`", "1 \\* 2", "é `` ` ``", "one\n\ntwo", "[e](https://a.org)"]
)


@settings(max_examples=40)
@given(WORDS, st.lists(WORDS, min_size=2, max_size=5, unique_by=plain), st.integers(0, 1))
def test_any_choice_keeps_its_words_in_anki(prompt: str, texts: list[str], right: int) -> None:
    options = tuple(Option(chr(97 + index), text, index == right, text) for index, text in enumerate(texts))
    (other,) = again(Bank("x", "X", (Question("a", "choice", prompt, NOWHERE, options=options),)), "anki").questions
    assert plain(other.prompt) == plain(prompt)
    assert keys(other) == [(plain(option.text), option.right) for option in options]
    assert [plain(option.reason) for option in other.options] == [plain(text) for text in texts]


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_bank_gives_the_same_bytes(format: ExportFormat) -> None:
    assert export_bank(BANK, format) == export_bank(BANK, format)


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_bank_and_broken_characters_can_be_written(format: ExportFormat) -> None:
    assert export_bank(Bank("", "", ()), format) or format == "gift"
    broken = Question(
        "a", "choice", "\udc80\x1f\0?", NOWHERE, options=(Option("a", "b", True), Option("b", "c", False))
    )
    assert export_bank(Bank("\ud800", "\ud800", (broken,)), format)


@pytest.mark.parametrize("format", FORMATS)
def test_families_are_left_to_our_own_formats(format: ExportFormat) -> None:
    family = Question("a", "value", "What?", NOWHERE, draw="def draw(rng): ...")
    bank = Bank("x", "X", (family, Question("b", "value", "What?", NOWHERE, answer="4")))
    kept = format in ("markdown", "json")
    assert unsupported_questions(bank, format) == (() if kept else (family,))
    assert len(again(bank, format).questions) == 2 if kept else 1


def test_a_spreadsheet_computes_nothing() -> None:
    options = (Option("a", "=1+1", True, "@x"), Option("b", "-2", False))
    question = Question("a", "choice", "+cmd|' /C calc'!A0", NOWHERE, options=options)
    data = export_bank(Bank("x", "X", (question,)), "csv").decode()
    cells = [cell for row in csv.reader(io.StringIO(data)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    (other,) = again(Bank("x", "X", (question,)), "csv").questions
    assert (other.prompt, other.options) == (question.prompt, options)


def test_gift_is_written_as_moodle_writes_it() -> None:
    three = tuple(Option(name, f"{name} = {{{name}}}", name != "d", "no: 1 ~ 2" * (name == "d")) for name in "abcd")
    questions = (
        Question("one", "choice", "Which?\n\nAll.", NOWHERE, options=three, topic="a/b", level="mid", tags=("x y",)),
        Question("two", "value", "How many?", NOWHERE, answer="-4", why="So."),
        Question("three", "output", "Prints?", NOWHERE, answer="a*\nb", program="print()"),
        Question("four", "open", "Why?", NOWHERE, answer="Because.", key_points=("It is.",)),
    )
    assert gift_bank(Bank("x", "X", questions)) == (
        "$CATEGORY: top/a/b\n\n"
        "// [id:one] [tag:mid] [tag:x-y]\n"
        "::one::[markdown]Which?\\n\\nAll. {\n"
        "\t~%33.33333%a \\= \\{a\\}\n"
        "\t~%33.33333%b \\= \\{b\\}\n"
        "\t~%33.33333%c \\= \\{c\\}\n"
        "\t~%-100%d \\= \\{d\\}#no\\: 1 \\~ 2\n"
        "}\n\n"
        "$CATEGORY: top\n\n"
        "// [id:two]\n::two::[markdown]How many? {\n\t#-4\n\t####So.\n}\n\n"
        "// [id:three]\n::three::[markdown]Prints?\\n\\n```python\\nprint()\\n``` {\n\t=a\\\\*\\nb\n}\n\n"
        "// [id:four]\n::four::[markdown]Why? {\n\t####Because.\\n\\n- It is.\n}\n"
    )


@pytest.mark.parametrize("answer", ["a -> b", "->", "'x->y'"])
def test_an_arrow_in_an_answer_does_not_become_a_matching_question_in_gift(answer: str) -> None:
    bank = Bank("x", "X", (Question("one", "output", "What does it print?", NOWHERE, answer=answer, program="f()"),))
    assert "\t=" not in gift_bank(bank)
    reading = read_bank(export_bank(bank, "gift"), name="again.gift")
    (other,) = reading.bank.questions
    assert (other.kind, other.prompt) == ("open", "What does it print?\n\n```python\nf()\n```")
    assert plain(answer) in plain(other.answer or "")


def test_gift_writes_weights_only_where_they_are_needed() -> None:
    def written(*options: Option) -> list[str]:
        text = gift_bank(Bank("x", "X", (Question("a", "choice", "?", NOWHERE, options=options),)))
        return [line for line in text.split("\n") if line.startswith("\t")]

    right, wrong = Option("a", "%5 more", True), Option("b", "[html]b", False)
    assert written(right, wrong) == ["\t=%100%[markdown]%5 more", "\t~%0%[markdown][html]b"]
    assert written(Option("a", "x", True), Option("b", "y", False)) == ["\t=x", "\t~y"]
    assert written(Option("a", "x", True), Option("b", "y", True)) == ["\t~%50%x", "\t~%50%y"]
    assert written(Option("a", "x", False), Option("b", "y", False)) == ["\t~%-100%x", "\t~%-100%y"]


@pytest.mark.parametrize(
    ("answer", "line"),
    [("-4", "\t#-4"), ("0.5", "\t#0.5"), ("(1, 2)", "\t=(1, 2)"), ("[3]", "\t=[3]"), ("True", "\t=True")],
)
def test_gift_compares_only_plain_numbers_as_numbers(answer: str, line: str) -> None:
    question = Question("a", "value", "How many?", NOWHERE, answer=answer)
    assert line in gift_bank(Bank("x", "X", (question,))).split("\n")


def test_gift_compares_printed_numbers_as_text() -> None:
    question = Question("a", "output", "What does it print?", NOWHERE, answer="4.0", program="print(4.0)")
    assert "\t=4.0" in gift_bank(Bank("x", "X", (question,))).split("\n")


def test_gift_escapes_ids_and_tags_in_comments() -> None:
    question = Question("a", "open", "Why?", NOWHERE, answer="b", title="  t : u ", tags=("x]y\\z",))
    lines = gift_bank(Bank("x", "X", (question,))).split("\n")
    assert lines[:2] == ["// [id:a] [tag:x\\]y\\\\z]", "::t \\: u::[markdown]Why? {"]


def test_a_note_keeps_its_ids_from_edition_to_edition() -> None:
    def rows(data: bytes) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            connection = sqlite3.connect(":memory:")
            try:
                connection.deserialize(package.read("collection.anki2"))
                notes = connection.execute("SELECT guid, id, mod FROM notes ORDER BY guid").fetchall()
                cards = connection.execute("SELECT nid, did, ord FROM cards ORDER BY nid").fetchall()
                return notes, cards
            finally:
                connection.close()

    first = Bank("x", "X", tuple(ASKED[:5]))
    clearer = [dataclasses.replace(question, prompt=f"Put better: {question.prompt}") for question in ASKED[:5]]
    later = Bank("x", "X", (dataclasses.replace(ASKED[7], topic="new"), *reversed(clearer)))
    notes, cards = rows(export_bank(first, "anki", at=1.0e9))
    more_notes, more_cards = rows(export_bank(later, "anki", at=1.1e9))
    assert {note[:2] for note in notes} < {note[:2] for note in more_notes}
    assert set(cards) < set(more_cards)
    assert {note[2] for note in notes} == {1_000_000_000} and {note[2] for note in more_notes} == {1_100_000_000}


def test_a_package_has_no_date_but_the_one_that_is_given() -> None:
    """The same bank gives the same bytes on any day."""
    with zipfile.ZipFile(io.BytesIO(export_bank(BANK, "anki"))) as package:
        assert {entry.date_time for entry in package.infolist()} == {(2026, 1, 1, 0, 0, 0)}


def test_anki_itself_opens_a_package(tmp_path: Path) -> None:
    deck = collection.Collection(str(tmp_path / "collection.anki2"))

    def bring(at: float) -> tuple[int, int, int]:
        file = tmp_path / f"{at}.apkg"
        file.write_bytes(export_bank(BANK, "anki", at=at))
        options = collection.ImportAnkiPackageOptions()
        request = collection.ImportAnkiPackageRequest(package_path=str(file), options=options)
        log = deck.import_anki_package(request).log
        return len(log.new), len(log.duplicate), len(log.updated)

    try:
        count = len(ASKED)
        assert bring(1.7e9) == (count, 0, 0)
        assert bring(1.7e9) == (0, count, 0)
        assert bring(1.8e9) == (0, 0, count)
        assert (deck.note_count(), deck.card_count()) == (count, count)
        names = {one.name for one in deck.decks.all_names_and_ids()}
        assert "PyTorch core::tensors::memory" in names
        card = deck.get_note(deck.find_notes("Id:view-without-copy")[0]).cards()[0]
        assert '<ol type="A">' in card.question() and "Right: A, B" in card.answer()
        _, healthy = deck.fix_integrity()
        assert healthy
        assert deck.tags.all() == sorted({tag for question in ASKED for tag in tags_of(question)}, key=str.casefold)
        assert [field["name"] for field in card.note_type()["flds"]] == list(FIELDS)
        assert deck.sched.deck_due_tree().new_count > 0
    finally:
        deck.close()
