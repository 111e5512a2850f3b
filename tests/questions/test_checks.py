"""What must hold of any question: one thing broken at a time in a bank that is otherwise right."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from questions import Finding, Question, read_bank
from questions.checks import check_bank
from questions.model import Bank

NATIVE = (Path(__file__).parent / "fixtures" / "native.md").read_text("utf-8")

BROKEN = {
    # what is replaced, by what, and the findings as `code line`
    "Q200 nothing asked": ("Why do leaves keep `.grad`?\n", "", ["Q200 139"]),
    "Q201 one option": (
        "- [ ] `(4, 1)` — a transpose does not move data: the strides change instead\n- [x] `(1, 4)`\n"
        "- [ ] {bytes} `(16, 4)` — strides count elements,\n      not bytes\n",
        "- [x] `(1, 4)`\n",
        ["Q201 11"],
    ),
    "Q202 none right": ("- [x] `(1, 4)`\n", "- [ ] `(1, 4)` — no\n", ["Q202 11"]),
    "Q203 no reason": (" — a transpose does not move data: the strides change instead", "", ["Q203 19"]),
    "Q204 an id twice": ("{bytes}", "{b}", ["Q204 21"]),
    "Q205 a text twice": ("- [x] `(1, 4)`", "- [x] `(4, 1)`", ["Q205 19"]),
    "Q206 an empty option": ("- [x] `(1, 4)`", "- [x]", ["Q206 11"]),
    "Q209 no value": ("### Answer\n\n`(3,)`\n\n", "", ["Q209 49"]),
    "Q210 no literal": ("`(3,)`", "`shape`", ["Q210 53"]),
    "Q211 no program": (
        "### Program\n\n```python\nfor n in range(2):\n    print(n)\n```\n\n",
        "",
        ["Q211 65"],
    ),
    "Q212 no output": ("```text\n0\n1\n```", "```text\n```", ["Q212 65"]),
    "Q220 a program": ("for n in range(2):", "for n in range(2:", ["Q220 72"]),
    "Q220 a proof": ("import torch\n\nassert tuple(", "import torch\n\nassert (tuple(", ["Q220 62"]),
    "Q221 no reference": ("### Reference\n\n```python\ndef square(x):\n    return x * x\n```\n", "", ["Q221 85"]),
    "Q222 another entry": ("def square(x):\n    return x * x\n", "def cube(x):\n    return x * x\n", ["Q222 98"]),
    "Q222 no hidden cases": ("def cases(rng):", "def others(rng):", ["Q222 105"]),
    "Q223 two wrong ones": (
        "### Wrong: returns itself\n\n```python\ndef square(x):\n    return x\n```\n",
        "",
        ["Q223 85"],
    ),
    "Q224 a name twice": ("### Wrong: returns itself", "### Wrong: doubles", ["Q224 85"]),
    "Q230 no proof": ("\n### Proof\n\n```python\nassert True\n```\n", "", ["Q230 139"]),
    "Q231 no key points": (
        "### Key points\n\n- A leaf was made by the user\n- the optimizer reads `.grad`\n",
        "",
        ["Q231 139"],
    ),
    "Q232 no model answer": ("### Answer\n\nBecause the optimizer reads it.\n", "", ["Q232 139"]),
    "Q301 an id twice": ("## why-leaf ·", "## square ·", ["Q301 139"]),
    "Q302 a prompt twice": ("What does it print?", "Write `square(x)`.", []),
    "Q115 two fences": ("assert True\n```\n", "assert True\n```\n\n```python\n```\n", ["Q115 152"]),
    "Q117 a limit of another kind": ("`wall_ms: 2000`", "`wall: 2000`", ["Q117 137"]),
    "Q117 a device there is not": ("`wall_ms: 2000`", "`device: tpu`", ["Q117 137"]),
    "Q120 no address": ("- https://pytorch.org/docs/stable/tensor_view.html", "- pytorch.org", ["Q120 42"]),
    "Q121 two entries": ("def square(x): ...\n", "def square(x): ...\n\n\nclass B: ...\n", ["Q121 89"]),
}


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{finding.code} {finding.span.line}" for finding in findings]


@pytest.mark.parametrize("name", BROKEN)
def test_one_fault_gives_one_finding_on_its_line(name: str) -> None:
    old, new, expected = BROKEN[name]
    assert old in NATIVE
    assert codes(read_bank(NATIVE.replace(old, new, 1), name="native.md").findings) == expected


def test_every_finding_says_how_to_mend_it() -> None:
    for old, new, _ in BROKEN.values():
        for finding in read_bank(NATIVE.replace(old, new, 1), name="native.md").findings:
            assert finding.help and finding.message


def changed(question: Question, **values: object) -> list[str]:
    """Returns the findings on a question that no document could produce."""
    source = read_bank(NATIVE, name="native.md").source
    bank = Bank("small", "Small", (dataclasses.replace(question, **values),), dialects=("native",))  # type: ignore[arg-type]
    return codes(check_bank(bank, source))


def test_a_code_question_without_a_task() -> None:
    square = read_bank(NATIVE, name="native.md").bank.questions[3]
    assert changed(square, task=None) == ["Q213 85"]


@pytest.mark.parametrize("answer", ["(" * 300, "1" + "+1" * 5000, "f()", "x", "1 +", "'\\d'\n)"])
def test_what_is_no_literal_is_refused_without_being_run(answer: str) -> None:
    value = read_bank(NATIVE, name="native.md").bank.questions[1]
    assert changed(value, answer=answer) == ["Q210 53"]


def test_a_nul_in_an_answer_is_named_besides() -> None:
    value = read_bank(NATIVE, name="native.md").bank.questions[1]
    assert changed(value, answer="\0") == ["Q010 49", "Q210 53"]


@pytest.mark.parametrize("answer", ["(3,)", "-1.5", "True", "'\\d'", "[1, {'a': None}]", "2+1j"])
def test_a_literal_is_accepted(answer: str) -> None:
    value = read_bank(NATIVE, name="native.md").bank.questions[1]
    assert changed(value, answer=answer) == []


def test_foreign_questions_need_no_proof_and_no_reasons() -> None:
    assert read_bank("## 1. What is it?\nA thing.\n", name="a.md").findings == ()


def test_the_same_prompt_with_another_program_is_another_question() -> None:
    one = "## {n}. What is printed?\n\n```py\nprint({n})\n```\n\n**Answer:** {n}\n\n"
    text = one.replace("{n}", "1") + one.replace("{n}", "2")
    assert read_bank(text, name="a.md").findings == ()
    twice = text.replace("print(2)", "print(1)")
    assert codes(read_bank(twice, name="a.md").findings) == ["Q306 9"]
    assert codes(read_bank(twice.replace("**Answer:** 2", "**Answer:** 1"), name="a.md").findings) == ["Q302 9"]


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("100+ PyTorch questions", ["Q304 1"]),
        ("The 50 most asked interview questions", ["Q304 1"]),
        ("2 questions", []),
        ("PyTorch 2 in 10 minutes", []),
    ],
)
def test_a_title_that_promises_a_number(title: str, found: list[str]) -> None:
    text = f"# {title}\n\n## 1. What is it?\na\n\n## 2. What is that?\nb\n"
    assert codes(read_bank(text, name="a.md").findings) == found


def numbered(*numbers: int, section: str = "") -> str:
    return section + "".join(f"## {number}. What is thing {number}?\n\nIt is a thing.\n\n" for number in numbers)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((1, 2, 3), ""),
        ((3, 4), ""),
        ((1, 3), "number 2 is missing before this question"),
        ((1, 4), "numbers 2 to 3 are missing before this question"),
        ((1, 12), "numbers 2 to 11 are missing before this question"),
        ((2, 1), ""),
    ],
)
def test_missing_numbers_are_reported(numbers: tuple[int, ...], message: str) -> None:
    found = read_bank(numbered(*numbers), name="a.md").findings
    assert [finding.message for finding in found] == ([message] if message else [])
    assert {finding.code for finding in found} <= {"Q305"}


def test_numbers_start_again_in_another_section_and_are_used_once_in_each() -> None:
    first, second = numbered(1, 2, section="# One\n\n"), numbered(1, 2, section="# Two\n\n").replace("thing", "one")
    assert read_bank(first + second, name="a.md").findings == ()
    (found,) = read_bank(first + numbered(2).replace("thing", "one"), name="a.md").findings
    assert (found.code, found.message, found.note) == ("Q303", "number 2 is used twice", "the first is on line 7")


def test_a_choice_with_the_same_key_in_another_order_is_a_duplicate() -> None:
    text = "## {n}. Which?\n\nA. one\nB. two\n\n**Answer:** {key}\n\n"
    same = text.replace("{n}", "1").replace("{key}", "A")
    swapped = text.replace("{n}", "2").replace("one", "2").replace("two", "one").replace("A. 2", "A. two")
    assert codes(read_bank(same + swapped.replace("{key}", "B"), name="a.md").findings) == ["Q302 8"]
    assert codes(read_bank(same + swapped.replace("{key}", "A"), name="a.md").findings) == ["Q306 8"]


def test_the_caret_of_an_id_twice_is_under_the_id() -> None:
    text = "---\nbank: b\n---\n\n# t\n" + "\n## same-id · value · mid\n\nWhat?\n\n### Answer\n\n`1`\n" * 2
    reading = read_bank(text, name="b.md")
    finding = next(one for one in reading.findings if one.code == "Q301")
    line = reading.source.line(finding.span.line)
    start, end = finding.columns(line)
    assert line[start:end] == "same-id"
