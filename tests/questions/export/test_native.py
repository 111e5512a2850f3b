"""Our own Markdown: what is read, written and read again is the same; what cannot be the same is the least."""

from __future__ import annotations

import dataclasses
import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Bank, CodeTask, Option, Question, Reading, read_bank
from questions.export import export_bank
from questions.export.common import escape_line, escape_text
from questions.export.native import native_text, storable
from questions.model import LEVELS, CodeBlock, SourceLocation, Tolerance, Wrong

BANKS = sorted(Path(str(resources.files("questions") / "banks")).glob("*.md"))
FIXTURES = Path(__file__).parents[1] / "fixtures"
NOWHERE = SourceLocation("", 0, 0)

INLINE = st.text(st.sampled_from("ab1 é*_`[]()<>!#&{}~\\|-+.=:'\"/$—"), min_size=1, max_size=20)
WORDS = st.sampled_from(
    [
        "What is `x`?",
        "**Bold** word",
        "`a — b`",
        "a -> b",
        "x < y & z",
        "é ü",
        "`` ` ``",
        "$x_1$",
        "1 — 2",
        "{a} b",
        "[x] y",
    ]
)
BLOCKS = st.sampled_from(
    [
        *("A line.", "Two\nlines.", "- a\n- b", "1. a\n2. b", "> quoted", "#### Deep", "| a |\n|---|\n| b |", "***"),
        *(
            "```python\nx = 1\n```",
            "```\n\n# 2\n```",
            "~~~\n```\n~~~",
            "    indented",
            "`` ` ``",
            "- a\n\n  b",
            "<b>x</b>",
        ),
    ]
)
WILD = st.sampled_from(
    [
        *(
            "# One",
            "## Two",
            "### Why",
            "Title\n---",
            "Title\n===",
            "## a · open",
            "- [x] a",
            "- [ ] {b} c — d",
            "* [x] e",
        ),
        *(
            "```",
            "~~~~\nx",
            "<!--",
            "<script>",
            "<details>\n\n# x",
            "[a]: http://b",
            "---\nbank: x\n---",
            "\0",
            "\r",
            "—",
        ),
        *(
            "1. [x] a",
            "- - b",
            "\\",
            "\t- c",
            "     d",
            "> # e",
            "> ```",
            "- ```\n  x",
            "\u2028",
            "\x0b",
            "{a} b",
            "a\n\n\n\nb",
        ),
    ]
)
PROSE = st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join).map(lambda text: text.strip())
ANYTHING = st.lists(st.one_of(BLOCKS, WILD, WORDS, INLINE), min_size=1, max_size=5).map("\n\n".join)
PROGRAMS = st.sampled_from(
    ["x = 1", "def f(x):\n    return x", "print('```')", "# ~~~\n\n\ny = 2", "\tz", "## a · open"]
)
LITERALS = st.sampled_from(["4", "(1, 2)", "'a`b'", "'''a\nb'''", "[1.5, None]", "'# x'", "-1"])
IDS = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,3}){0,2}", fullmatch=True)
NAMES = st.sampled_from(["doubles", "loses the sign", "returns `x`", "a_b_c", "1. of two", "*all*", "# x", "- y", ""])


def plain_options(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Option, ...]]:
    one = st.tuples(texts, st.booleans(), st.one_of(st.just(""), texts), st.sampled_from(["", "x1", "b_c"]))
    return st.lists(one, max_size=4).map(
        lambda many: tuple(
            Option(f"{name}{index}" if name else chr(97 + index), text.strip() or "a", right, reason.strip())
            for index, (text, right, reason, name) in enumerate(many)
        )
    )


TASKS = st.builds(
    CodeTask,
    entry=st.just("f"),
    starter=st.just("def f(x): ..."),
    reference=PROGRAMS,
    cases=PROGRAMS,
    driver=st.one_of(st.just(""), PROGRAMS),
    wrong=st.lists(st.builds(Wrong, NAMES, PROGRAMS), max_size=3).map(tuple),
    tolerance=st.builds(Tolerance, st.sampled_from([1e-5, 0.0, 2.5e-12]), st.sampled_from([1e-7, 0.5])),
    wall_ms=st.sampled_from([5000, 1]),
    memory_mb=st.sampled_from([512, 64]),
    device=st.sampled_from(["cpu", "cuda", "both"]),
)


def questions(prose: st.SearchStrategy[str], short: st.SearchStrategy[str]) -> st.SearchStrategy[Question]:
    return st.builds(
        Question,
        id=IDS,
        kind=st.sampled_from(["choice", "value", "output", "code", "open"]),
        prompt=prose,
        place=st.just(NOWHERE),
        answer=st.none(),
        why=st.one_of(st.just(""), prose),
        program=st.one_of(st.just(""), PROGRAMS),
        options=plain_options(short),
        task=TASKS,
        key_points=st.lists(short.map(str.strip).filter(bool), max_size=3).map(tuple),
        proof=st.one_of(st.just(""), PROGRAMS),
        draw=st.one_of(st.just(""), PROGRAMS),
        level=st.one_of(st.none(), st.sampled_from(LEVELS)),
        topic=st.sampled_from(["", "nets", "tensors/memory", "C++ & *more*", "1. x", "c #"]),
        links=st.lists(st.sampled_from(["https://a.org/b_c#d", "http://x.y/?z=1&w=*"]), max_size=2).map(tuple),
        tags=st.lists(st.sampled_from(["a", "two words", "c++", "_x_", "#1", "- d"]), max_size=3, unique=True).map(
            tuple
        ),
    ).flatmap(lambda question: answers(question, prose))


def answers(question: Question, prose: st.SearchStrategy[str]) -> st.SearchStrategy[Question]:
    """Yields the question with an answer of its kind, or without one."""
    of_kind = {"value": LITERALS, "output": st.sampled_from(["1", "a\n\nb", "```", " x"]), "open": prose}
    found = of_kind.get(question.kind, st.none())
    return st.one_of(st.none(), found).map(lambda answer: held_fully(dataclasses.replace(question, answer=answer)))


def held_fully(question: Question) -> Question:
    return dataclasses.replace(storable(question), topic=question.topic)


def read(text: str) -> Reading:
    return read_bank(text, name="again.md")


def same(question: Question) -> Question:
    """Returns the question without its line numbers."""
    blocks = tuple(dataclasses.replace(block, line=0) for block in question.code_blocks)
    return dataclasses.replace(question, place=NOWHERE, code_blocks=blocks)


@pytest.mark.parametrize("path", [*BANKS, FIXTURES / "native.md"], ids=lambda path: path.stem)
def test_a_native_bank_survives_whole(path: Path) -> None:
    reading = read_bank(path.read_bytes(), name=path.name)
    again = read(native_text(reading.bank))
    assert [same(question) for question in again.bank.questions] == [same(one) for one in reading.bank.questions]
    assert (again.bank.name, again.bank.title, again.bank.license) == (
        reading.bank.name,
        reading.bank.title,
        reading.bank.license,
    )
    assert native_text(again.bank) == native_text(reading.bank)
    assert {finding.code for finding in again.findings} <= {finding.code for finding in reading.findings}


@settings(max_examples=80)
@given(st.lists(questions(PROSE, WORDS), max_size=3, unique_by=lambda question: question.id))
def test_any_question_survives_whole(many: list[Question]) -> None:
    bank = Bank("any", "Any bank", tuple(many))
    again = read(native_text(bank)).bank
    ordered = sorted(many, key=lambda question: question.topic != "")
    assert [question.id for question in again.questions] == [question.id for question in ordered]
    for question, other in zip(ordered, again.questions, strict=True):
        assert held_fully(other) == question


@settings(max_examples=80)
@given(st.lists(questions(ANYTHING, ANYTHING), max_size=3, unique_by=lambda question: question.id))
def test_any_text_at_all_leaves_each_question_with_its_key(many: list[Question]) -> None:
    again = read(native_text(Bank("any", "Any bank", tuple(many)))).bank
    ordered = sorted(many, key=lambda question: question.topic != "")
    assert [question.id for question in again.questions] == [question.id for question in ordered]
    for question, other in zip(ordered, again.questions, strict=True):
        assert (other.kind, other.level, other.task) == (question.kind, question.level, question.task)
        assert [(o.id, o.right) for o in other.options] == [(o.id, o.right) for o in question.options]
        assert question.kind not in ("value", "output") or other.answer == question.answer


PIECES = (
    "word",
    "```\n\n# 2\n```",
    "- a\n- b",
    "| a |\n|---|\n| b |",
    "#### Deep",
    "`—` — x\n— y",
    "[a]: http://b",
    "    c",
    "```\n\n- [x] a",
    "- - b\n\nTitle\n---",
    "```\n\n# 2\n```\n\n# One",
)


@pytest.mark.parametrize("reason", ["", *PIECES])
@pytest.mark.parametrize("text", PIECES)
def test_an_option_and_its_reason_of_any_blocks_stay_two_texts(text: str, reason: str) -> None:
    options = (Option("a", text, False, reason), Option("x", text, True, reason))
    question = held_fully(Question("q", "choice", "Which?", NOWHERE, options=options))
    (other,) = read(native_text(Bank("any", "Any bank", (question,)))).bank.questions
    assert other.options[0].right is False and other.options[1].right is True
    assert {bool(option.reason) for option in other.options} == {bool(reason)}
    if not re.search(r"# 2|Title|\[x\]", text + reason):
        # Headings of the first three levels and open fences cannot stay.
        assert [(o.text, o.reason) for o in other.options] == [
            (o.text.strip(), o.reason.strip()) for o in question.options
        ]


@pytest.mark.parametrize(
    ("text", "reason", "other"),
    [
        ("- - b\n\nTitle\n---", "```\n\n# 2\n```\n\n# One", "```\n\n# 2\n```\n\n> ```\n\n     d\n\n<script>"),
        ("\\", "<!--\n\n```\n\n# 2\n```\n\nTitle\n---\n\n~~~\n```\n~~~", "Title\n===\n\n1. a\n2. b\n\n`` ` ``"),
        ("```\n\n- [x] a", "```\n\n# 2\n```", "B"),
    ],
)
def test_an_option_swallows_no_other(text: str, reason: str, other: str) -> None:
    options = (Option("a", text, False, reason), Option("b", other, True))
    question = held_fully(Question("q", "choice", "Which?", NOWHERE, options=options))
    (again,) = read(native_text(Bank("any", "Any bank", (question,)))).bank.questions
    assert [(o.id, o.right, bool(o.reason)) for o in again.options] == [("a", False, True), ("b", True, False)]


FOREIGN = {
    "a.gift": "::a::[html]<p>What is <code>x = 1</code>?</p>{=<b>one</b>#yes ~two — 2#no}\n\nHow? {####So.}\n",
    "b.yaml": "Which `dtype` __init__?:\n- float16\n- half\nHow many?:\n- 4\n",
    "c.json": '{"response_code":0,"results":[{"category":"Art","difficulty":"easy","question":"A &amp; *b*?",'
    '"correct_answer":"# c","incorrect_answers":["- d","{e} f"]}]}',
    "d.md": "### 1. What is a view?\n**Answer:** It shares memory.\n\n- one\n- two\n\n```python\nx = 1\n```\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_questions_survive_as_far_as_the_dialect_holds_them(name: str) -> None:
    bank = read_bank(FOREIGN[name], name=name).bank
    again = read(native_text(bank)).bank
    assert len(bank.questions) > 0
    assert list(map(storable, again.questions)) == list(map(storable, bank.questions))


def test_ids_the_dialect_cannot_read_become_ones_it_can() -> None:
    one = Question("été", "open", "a", NOWHERE, answer="b")
    bank = Bank("x", "X", (one, dataclasses.replace(one, id="_b"), dataclasses.replace(one, id="日本")))
    ids = [question.id for question in read(native_text(bank)).bank.questions]
    assert ids[1].startswith("b-") and ids[2].startswith("question-")
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    "title", ["yes", "a: b", "# x", "- y", '"quoted"', "'", "é — ü", "a\nb", "\x85", "12", "x" * 200, "\udc80"]
)
def test_front_matter_holds_any_name_and_title(title: str) -> None:
    data = export_bank(Bank(title, title, (Question("a", "open", "b", NOWHERE, answer="c"),), title), "markdown")
    again = read_bank(data, name="a.md").bank
    wanted = " ".join(title.encode("utf-8", "replace").decode().split())
    assert (again.name, again.title, again.license) == (wanted or "a", wanted or "a", wanted)


def test_a_license_all_questions_share_is_the_documents() -> None:
    question = Question("a", "open", "b", NOWHERE, answer="c", license="CC0-1.0")
    assert "license: CC0-1.0" in native_text(Bank("x", "X", (question,)))
    two = (question, dataclasses.replace(question, id="d", license="MIT"))
    assert "license" not in native_text(Bank("x", "X", two))


def test_the_language_of_a_fence_stays() -> None:
    text = "## a · output\n\nPrints?\n\n### Program\n\n```py\nprint(1)\n```\n\n### Output\n\n```\n1\n```\n"
    (question,) = read(text).bank.questions
    assert question.code_blocks == (CodeBlock("print(1)", "py", 8), CodeBlock("1", "", 14))
    assert "```py\nprint(1)\n```" in native_text(Bank("x", "X", (question,)))


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("# One\n\ntext", "#### One\n\ntext"),
        ("Two\n---", "#### Two"),
        ("```py\nx", "```py\nx\n```"),
        ("- [x] a", "- \\[x] a"),
        ("<!--\nx", "\\<!--\nx"),
        ("#### Deep stays", "#### Deep stays"),
    ],
)
def test_what_would_end_a_question_is_disarmed(text: str, harmless: str) -> None:
    assert escape_text(text) == harmless


def test_plain_words_can_be_escaped() -> None:
    assert escape_line("1. a_b") == "1\\. a\\_b"
    assert escape_line("- x") == "\\- x"
