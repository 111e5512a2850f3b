"""Reading any text: it never fails, loses no line, and does not depend on how lines end."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Finding, Reading, as_data, from_data, read_bank, read_path, shipped_bank
from questions.export import export_bank
from questions.report import finding_github, reading_text, readings_json
from tests.calls import calls_of

NATIVE = (Path(__file__).parent / "fixtures" / "native.md").read_text("utf-8")

LINES = st.sampled_from(
    [
        *("", "", "---", "text", "    text", "> quote", "* * *", "<details>", "[a]: http://b", "| a |", "|---|"),
        *(
            "# Title",
            "## 1. What is it?",
            "### 2. Tensors",
            "#### Answer",
            "## Question 3",
            "### Mid Level",
            "Title\n===",
        ),
        *("**Answer:** a", "*Answer*: b", "**Q:** One?", "**A:**", "Q: two?", "A: b", "**Solution**"),
        *("1. **What?**", "   * *Answer*: c", "2) d", "- **e**", "  f", "- [ ] {a} g — h", "- [x] i", "\t- j"),
        *("```python", "```", "~~~", "x = 1  # 2. what?", "`", "$\\text{a", "âœ…", "\x00", "\u2028", "\x0b", "\u202e"),
        *("# topic", "## ab · choice · mid", "## cd · code", "### Proof", "### Wrong: x", "### Output", "### Limits"),
        *(
            "<details><summary>What?</summary>",
            "<summary>Show answer</summary>",
            "</details>",
            "<br><b>",
            "</b></details>",
        ),
        *(
            "1. ### Why?",
            "#### 2) How? [[src](http://c)]",
            "**3) Title**. Why so?",
            "**Which one is it?**",
            "* Why? because",
        ),
        *("a) one", "b) two", "c) three", "- A: four", "- B: five ✅", "**Answer: b**", "Answer: d", "#### Answer: C"),
        *("| Question | Answer |", "| What? | `a | b` |", "Q4. Who?", "Ans: they", "[⬆ Back to Top](#top)", "¿Qué?"),
        *("questions:", '  mid: ["a?", "b"]', "bank: x", "  - a", "title: 3 questions", "<!-- a", "-->"),
    ]
)
DOCUMENTS = st.one_of(
    st.lists(LINES, max_size=40).map("\n".join),
    st.lists(LINES, max_size=20).map(lambda lines: "\n".join(["---", *lines, "---", *lines])),
    st.text(max_size=200),
)


def accounts_for_every_line(reading: Reading) -> None:
    assert reading.unaccounted() == ()
    count = len(reading.source.lines)
    asked: set[int] = set()
    for question in reading.bank.questions:
        place = question.place
        assert 1 <= place.line <= place.end_line <= count
        asked.update(range(place.line, place.end_line + 1))
    for first, last in reading.study:
        assert 1 <= first <= last <= count
        assert reading.source.line(first).strip() and reading.source.line(last).strip()
        assert asked.isdisjoint(range(first, last + 1))


@settings(max_examples=250)
@given(DOCUMENTS)
def test_any_text_is_read_and_every_line_accounted_for(text: str) -> None:
    reading = read_bank(text, name="any.md")
    accounts_for_every_line(reading)
    for finding in reading.findings:
        span = finding.span
        assert 1 <= span.line <= span.end_line <= len(reading.source.lines)
        assert span.column >= 1 and finding.message and finding.message[0] == finding.message[0].lower()
        assert not finding.message.endswith(".") and "\n" not in finding_github(finding, reading.source)
    assert reading_text(reading).plain.endswith("\n")
    assert readings_json([reading])


@settings(max_examples=100)
@given(DOCUMENTS)
def test_no_two_questions_share_a_line_outside_the_front_matter(text: str) -> None:
    reading = read_bank(text, name="any.md")
    places = [q.place for q in reading.bank.questions if q.answered]
    assert all(one.end_line < two.line for one, two in itertools.pairwise(places))


TAGS = ("details", "summary", "br", "b", "p", "x")
MARKS = ("show", "correct", "back", "to", "top", "src", "respuesta", "pregunta", "q4")
LABELS = frozenset(["a", "ans", "answer", "q", "question", "solution", "discussion", *TAGS, *MARKS])


@settings(max_examples=250)
@given(DOCUMENTS)
def test_every_word_of_a_question_is_in_its_text_or_under_a_finding(text: str) -> None:
    reading = read_bank(text, name="any.md")
    for question in reading.bank.questions if "native" not in reading.bank.dialects else ():
        if not question.section and not question.answered:
            continue  # of the front matter, where questions share a line with others
        options = [f"{option.id} {option.text}" for option in question.options]
        said = (question.prompt, question.answer or "", question.why, question.title, question.number, question.level)
        known = words("\n".join((*(text or "" for text in said), *options, *question.links)))
        for number in range(question.place.line, question.place.end_line + 1):
            lost = words(reading.source.line(number)) - known - LABELS
            spans = (finding.span for finding in reading.findings)
            assert not lost or any(span.line <= number <= span.end_line for span in spans), lost


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@settings(max_examples=100)
@given(DOCUMENTS)
def test_ids_are_unique_unless_an_author_wrote_them(text: str) -> None:
    reading = read_bank(text, name="any.md")
    ids = [question.id for question in reading.bank.questions]
    assert all(ids)
    assert len(set(ids)) == len(ids) or any(finding.code == "Q301" for finding in reading.findings)


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    accounts_for_every_line(read_bank(data, name="any.md"))


@settings(max_examples=60)
@given(DOCUMENTS.filter(lambda text: "\r" not in text))
def test_line_endings_and_a_byte_order_mark_change_nothing(text: str) -> None:
    plain = read_bank(text.removeprefix("\ufeff"), name="any.md")
    other = read_bank("\ufeff" + text.removeprefix("\ufeff").replace("\n", "\r\n"), name="any.md")
    assert other == plain


@settings(max_examples=60)
@given(DOCUMENTS)
def test_a_question_survives_json(text: str) -> None:
    for question in read_bank(text, name="any.md").bank.questions:
        assert from_data(as_data(question)) == question


@pytest.mark.parametrize("word", ["license", "licence"])
def test_the_license_is_read_in_either_spelling(word: str) -> None:
    assert read_bank(NATIVE.replace("license:", f"{word}:"), name="native.md").bank.license == "MIT"


def test_the_native_fixture_is_read_completely() -> None:
    reading = read_bank(NATIVE, name="native.md")
    bank = reading.bank
    assert reading.findings == ()
    assert (bank.name, bank.title, bank.license) == ("small", "A small bank", "MIT")
    assert [(q.id, q.kind, q.level, q.topic) for q in bank.questions] == [
        ("transpose-strides", "choice", "mid", "tensors/memory"),
        ("shape-of-sum", "value", "senior", "tensors/memory"),
        ("prints-sum", "output", None, "tensors/memory"),
        ("square", "code", "principal", "autograd"),
        ("why-leaf", "open", "mid", "autograd"),
    ]
    assert {question.license for question in bank.questions} == {"MIT"}
    assert all(question.answered for question in bank.questions)


def test_a_choice_of_the_native_fixture() -> None:
    question = read_bank(NATIVE, name="native.md").bank.questions[0]
    assert question.prompt.splitlines()[-1] == "```" and "- [" not in question.prompt
    assert [(option.id, option.text, option.right) for option in question.options] == [
        ("a", "`(4, 1)`", False),
        ("b", "`(1, 4)`", True),
        ("bytes", "`(16, 4)`", False),
    ]
    assert question.options[0].reason == "a transpose does not move data: the strides change instead"
    assert question.why == "The strides are swapped.\n\n#### In detail\n\nNothing is copied."
    assert question.proof.endswith("assert torch.zeros(3, 4).t().stride() == (1, 4)")
    assert [block.text for block in question.code_blocks] == ["x = torch.zeros(3, 4).t()"]
    assert question.tags == ("strides", "views")
    assert question.links[0] == "https://pytorch.org/docs/stable/tensor_view.html"


def test_a_task_of_the_native_fixture() -> None:
    task = read_bank(NATIVE, name="native.md").bank.questions[3].task
    assert task is not None
    assert (task.entry, task.wall_ms, task.memory_mb) == ("square", 2000, 512)
    assert (task.tolerance.rtol, task.tolerance.atol) == (1e-3, 1e-7)
    assert [wrong.name for wrong in task.wrong] == ["doubles", "loses the sign rule", "returns itself"]
    assert task.cases.splitlines()[0] == "def examples():"
    assert task.device == "cpu"


@pytest.mark.parametrize("device", ["cpu", "cuda", "both"])
def test_a_task_names_its_device_among_its_limits(device: str) -> None:
    text = NATIVE.replace("`wall_ms: 2000`", f"`device: {device}`")
    task = read_bank(text, name="native.md").bank.questions[3].task
    assert task is not None
    assert (task.device, task.wall_ms) == (device, 5000)


def test_text_before_a_question_changes_no_id() -> None:
    text = "### 1. What is a view?\n**Answer:** a\n\n### 2. What is a copy?\n**Answer:** b\n"
    before = [question.id for question in read_bank(text, name="a.md").bank.questions]
    edited = "# Title\n\nIntro.\n\n" + text.replace("### 1.", "### 7.").replace(" a\n", " another\n")
    assert [question.id for question in read_bank(edited, name="b.md").bank.questions] == before


def test_a_folder_gives_its_documents_by_name(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("## 1. What is it?\nA thing.\n", "utf-8")
    (tmp_path / "a.TXT").write_bytes(b"\xff\xfe" + "text".encode("utf-16-le"))
    (tmp_path / "c.py").write_text("x = 1", "utf-8")
    (tmp_path / "d.md").mkdir()
    readings = read_path(tmp_path)
    assert [Path(reading.source.name).name for reading in readings] == ["a.TXT", "b.md"]
    assert [reading.answered for reading in readings] == [0, 1]


def test_documents_of_a_folder_that_are_the_same_bank_are_told_so(tmp_path: Path) -> None:
    text = "---\nlicense: MIT\nbank: our-team\n---\n\n## it · value · mid\n\nWhat?\n\n### Answer\n\n`1`\n"
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "d.md").write_text(text.replace("our-team", "another"), "utf-8")
    (tmp_path / "e.md").write_text("---\nbank: our-team\n---\n\nNo question.\n", "utf-8")
    found = [[one for one in reading.findings if one.code == "Q307"] for reading in read_path(tmp_path)]
    assert [[(one.message, one.severity, one.span.line) for one in some] for some in found] == [
        [("the bank `our-team` is also that of b.md and 1 more", "error", 3)],
        [("the bank `our-team` is also that of a.md and 1 more", "error", 3)],
        [("the bank `our-team` is also that of a.md and 1 more", "error", 3)],
        [],
        [],
    ]


def test_files_of_the_same_name_are_the_same_bank(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("## 1. What is it?\nA thing.\n", "utf-8")
    (tmp_path / "a.txt").write_text("## 1. What is it?\nA thing.\n", "utf-8")
    first, second = read_path(tmp_path)
    assert first.findings[0].message == "the bank `a` is also that of a.txt" and first.findings[0].span.line == 1
    assert first.findings[0].help == "give one of the files another name"
    assert second.has_errors


def test_the_page_of_a_preview_is_no_document_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("## 1. What is it?\nA thing.\n", "utf-8")
    (tmp_path / "what-is-it.preview.html").write_text("<p>What is it?</p>", "utf-8")
    assert [Path(reading.source.name).name for reading in read_path(tmp_path)] == ["a.md"]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_path(tmp_path / "none.md")


def test_a_bank_is_named_after_its_file_by_default() -> None:
    assert read_bank("text", name="folder/py torch.md").bank.name == "py torch"
    assert read_bank("---\nbank: other\n---\n", name="a.md").bank.name == "other"
    assert read_bank("# One\n", name="a.md").bank.title == "One"
    assert read_bank("# One\n\n# Two\n", name="a.md").bank.title == "a"


def test_the_license_of_a_document_is_that_of_its_questions() -> None:
    for word in ("license", "license"):
        bank = read_bank(f"---\n{word}: CC-BY-4.0\n---\n\n## 1. What is it?\nA thing.\n", name="a.md").bank
        assert (bank.license, bank.questions[0].license) == ("CC-BY-4.0", "CC-BY-4.0")
    assert read_bank("---\n- license\n---\n\n## 1. What is it?\nA thing.\n", name="a.md").bank.license == ""


def test_the_shipped_bank_can_be_read() -> None:
    assert len(shipped_bank().questions) >= 25


def calls_to_read(count: int) -> int:
    """Counts the Python functions called to read a document of `count` questions of every shape."""
    one = "### {n}. What is number {n}?\n**Answer:** `a`\n\n```py\nx = 1\n```\n\n- **b**\n  * c\n\n---\n\n"
    text = "\n".join(one.replace("{n}", str(number)) for number in range(count))
    return calls_of(lambda: read_bank(text, name="long.md"))


def test_work_grows_with_the_length_of_a_document() -> None:
    calls_to_read(2)
    assert calls_to_read(80) < 2.3 * calls_to_read(40)


def test_a_brace_of_a_formula_may_be_closed_up_to_a_thousand_characters_later() -> None:
    def codes(length: int) -> list[str]:
        text = f"# T\n\n## 1. What is it?\n\nA text{{{'a' * length}}} here.\n"
        return [finding.code for finding in read_bank(text, name="a.md").findings]

    assert codes(999) == []
    assert codes(1_000) == ["Q008"]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a `b", 3),
        ("`a` and `b", 9),
        ("``a` and b", 1),
        ("``a` `` and ` b", 13),
        ("a \\` b", None),
        ("`a` ``b ` c``", None),
    ],
)
def test_an_open_backtick_is_marked_at_its_position(text: str, column: int | None) -> None:
    found = [one for one in read_bank(f"## 1. What is it?\n\n{text}\n", name="a.md").findings if one.code == "Q004"]
    assert [(one.span.line, one.span.column) for one in found] == ([(3, column)] if column else [])


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (["1. **Please write a function that sorts**", "2. **Describe its steps briefly**\n   _example_ `[2]`"], ""),
        (
            [
                "1. **Please write a function that sorts**",
                "2. **Describe its steps briefly**\n   _example_ `[2]`",
                "## Proszę porównać dwie sieci\n\nA text.",
            ],
            "1, 3, 6",
        ),
    ],
)
def test_demands_that_were_not_read_are_named_if_there_are_three(lines: list[str], named: str) -> None:
    (finding,) = read_bank("\n\n".join(lines) + "\n", name="a.md").findings
    assert finding.code == "Q005"
    assert finding.note == "the whole document was read as study text" + (
        f"; these lines look like questions: {named}" if named else ""
    )


# Findings about broken markup


def one_finding(text: str) -> tuple[Finding, str]:
    """Returns the only finding of a document, and the text that it points at in its first line."""
    reading = read_bank(text, name="a.md")
    (finding,) = reading.findings
    line = reading.source.line(finding.span.line)
    start, end = finding.columns(line)
    return finding, line[start:end]


def test_front_matter_that_is_not_yaml_is_ignored_and_named() -> None:
    finding, _ = one_finding("---\na: b: c\n---\n\n## 1. What is it?\nA.\n\n## 2. And?\nB.\n")
    assert (finding.code, finding.severity, finding.message) == (
        "Q007",
        "warning",
        "the front matter is not valid YAML",
    )
    assert (finding.span.line, finding.span.end_line, finding.note) == (1, 3, "it was ignored")
    assert finding.help == "quote values that contain a colon, and indent with spaces"


def test_a_fence_that_is_never_closed_is_named_where_it_opens() -> None:
    finding, marked = one_finding("## 1. What?\n\n```py\nx = 1\n\n## 2. Who?\n")
    assert (finding.code, finding.severity, finding.message) == ("Q003", "warning", "the fence is never closed")
    assert (finding.span.line, marked, finding.label) == (3, "```py", "opened here")
    assert finding.note == "everything to line 6 was read as code"
    assert finding.help == "add a line with the same marks to close it"


def test_text_behind_the_end_of_a_fence_is_named_where_it_stands() -> None:
    finding, marked = one_finding("## 1. What?\n\n```py\nx = 1\n``` and more\n")
    assert (finding.code, finding.severity) == ("Q003", "warning")
    assert finding.message == "text follows the closing marks of the fence"
    assert (finding.span.line, marked) == (5, "``` and more")
    assert finding.note == "it was read as closed, but other programs may read everything below as code"
    assert finding.help == "put the closing marks on a line of their own"


def test_a_document_in_our_own_format_is_read_as_it_is() -> None:
    odd = [
        "{{< spoiler >}}",
        "hidden",
        "{{< /spoiler >}}",
        "",
        "> [!question]- Fold",
        "> folded",
        "",
        "1️⃣ Keycap",
        "2.No space",
        "S: soru",
        "（7）新的",
    ]
    prompt, answer = "\n".join(odd), "ANS: A  PTS: 1\n答案：√"
    own = f"# forms\n\n## odd · open · mid\n\n{prompt}\n\n### Answer\n{answer}\n\n### Key points\n- A\n"
    for text in (own, own.encode()):
        reading = read_bank(text, name="forms.md")
        (question,) = reading.bank.questions
        assert (question.prompt, question.answer) == (prompt, answer)
        assert "\n".join(reading.source.lines) == own
    # A program that shows our format does not make a document one of ours.
    shown = f"## What is a view?\n\nShared memory.\n\n## What is a copy?\n\nANS: B  PTS: 1\n\n```md\n{own}```\n"
    assert "native" not in read_bank(shown, name="notes.md").bank.dialects


def test_an_open_fence_is_an_error_only_in_our_own_format() -> None:
    native = "---\nbank: b\n---\n\n# t\n\n## one · value · mid\n\nWhat?\n\n### Answer\n\n```\n1\n"
    assert [(one.code, one.severity) for one in read_bank(native, name="a.md").findings] == [("Q003", "error")]


@pytest.mark.parametrize(
    ("text", "code", "message", "cure", "place"),
    [
        ("A `b and\nmore.", "Q004", "the backtick is never closed", "add the closing backtick", (3, 3)),
        ("A b\nand `more.", "Q004", "the backtick is never closed", "add the closing backtick", (4, 5)),
        (
            "A $\\text{b and\nmore$ and \\text{c}.",
            "Q008",
            "the brace of `\\text{` is never closed",
            "close it, or use backticks",
            (3, 4),
        ),
        (
            "A text{b {c} d} and\ntext{x",
            "Q008",
            "the brace of `text{` is never closed",
            "close it, or use backticks",
            (4, 1),
        ),
    ],
)
def test_marks_that_are_never_closed_are_named_where_they_open(
    text: str, code: str, message: str, cure: str, place: tuple[int, int]
) -> None:
    finding, marked = one_finding(f"## 1. What?\n\n{text}\n")
    assert (finding.code, finding.severity, finding.message, finding.help) == (code, "warning", message, cure)
    assert (finding.span.line, finding.span.column) == place
    assert (len(marked), finding.label) == (1, "opened here")


def test_an_open_backtick_in_a_heading_is_named_too() -> None:
    finding, _ = one_finding("## 1. What `is?\n\nA.\n")
    assert (finding.code, finding.span.line, finding.span.column) == ("Q004", 1, 12)


def test_only_the_first_open_brace_of_a_paragraph_is_named() -> None:
    finding, _ = one_finding("## 1. What?\n\ntext{a and text{b\n")
    assert (finding.code, finding.span.column) == ("Q008", 1)


# Banks


def test_text_around_the_questions_is_study_text() -> None:
    reading = read_bank("# T\n\nIntro.\n\n## 1. What?\nA.\n\n# End\n\nMore.\n\nLast.\n", name="a.md")
    assert reading.study == ((1, 3), (8, 12))
    assert (reading.answered, reading.unanswered, reading.has_errors) == (1, 0, False)
    assert reading.explanation == ("1 heading `##` with numbers: most of them ask",)


def test_questions_without_an_answer_are_counted() -> None:
    reading = read_bank("question,answer\nWhat?,a\nWho?,\nWhy?,\n", name="a.csv")
    assert (reading.answered, reading.unanswered) == (1, 2)


def test_an_error_forbids_the_import() -> None:
    assert read_bank("", name="a.gift").has_errors
    assert not read_bank("What? {}", name="a.gift").has_errors


@pytest.mark.parametrize(("name", "bank"), [("", "bank"), ("dir/a.b.md", "a.b"), ("x", "x")])
def test_a_document_is_named_after_its_file(name: str, bank: str) -> None:
    reading = read_bank("## 1. What?\nA.\n", name=name)
    assert (reading.bank.name, reading.bank.title) == (bank, bank)


def test_a_recipe_that_cannot_be_read_leaves_an_empty_bank() -> None:
    reading = read_bank("text", name="dir/a.md", recipe="nonsense")
    assert (reading.bank.name, reading.bank.title, reading.bank.questions) == ("a", "a", ())
    (finding,) = reading.findings
    assert (finding.code, finding.severity, finding.span.line) == ("Q009", "error", 1)
    assert finding.message == "the recipe cannot be used: `nonsense` has no name and colon"
    assert "or the columns of a table" in finding.help


def test_a_recipe_of_the_front_matter_is_marked_there() -> None:
    reading = read_bank("---\ntitle: T\nrecipe: nonsense\n---\n\ntext\n", name="a.md")
    assert [(one.code, one.span.line) for one in reading.findings if one.severity == "error"] == [("Q009", 3)]


def test_a_recipe_for_our_own_format_is_an_error_at_the_first_question() -> None:
    text = "---\nbank: b\n---\n\n# t\n\n## one · value · mid\n\nWhat?\n\n### Answer\n\n`1`\n"
    reading = read_bank(text, name="a.md", recipe='question: "{prompt}"\nanswer: "= {answer}"')
    (finding,) = [one for one in reading.findings if one.code == "Q009"]
    assert finding.span.line == 7 and finding.help == "leave out the recipe"
    assert "Dailygrad's own format, which says itself where the questions are" in finding.message
    assert len(reading.bank.questions) == 1


@pytest.mark.parametrize(
    ("name", "text", "takes"),
    [
        ("a.md", "## 1. What?\nA.\n", True),
        ("a.csv", "question,answer\nWhat?,a\n", True),
        ("a.json", '[{"question": "What?", "answer": "a"}]', True),
        ("a.gift", "What? {=a ~b}", False),
        ("a.md", "---\nbank: b\n---\n\n# t\n\n## one · value · mid\n\nWhat?\n\n### Answer\n\n`1`\n", False),
    ],
)
def test_only_text_tables_and_data_take_a_recipe(name: str, text: str, takes: bool) -> None:
    assert read_bank(text, name=name).takes_recipe is takes


def test_findings_stand_in_the_order_of_their_lines() -> None:
    text = "## 1. What?\n\nA `b\n\n## 2. What?\n\nA text{b\n\n## 2. Who?\n\nA `b\n"
    lines = [finding.span.line for finding in read_bank(text, name="a.md").findings]
    assert lines == sorted(lines) and len(lines) > 3


def test_our_own_json_keeps_the_numbers_of_the_document() -> None:
    reading = read_bank("## 7. What?\nA.\n", name="a.md")
    again = read_bank(export_bank(reading.bank, "json"), name="a.json")
    assert [question.number for question in again.bank.questions] == ["7"]
