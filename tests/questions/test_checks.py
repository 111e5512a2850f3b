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
    "Q201 a box without a space": (
        "- [ ] `(4, 1)` — a transpose does not move data: the strides change instead\n- [x] `(1, 4)`\n"
        "- [ ] {bytes} `(16, 4)` — strides count elements,\n      not bytes\n",
        "- [] `(4, 1)` — a transpose does not move data\n- [x] `(1, 4)`\n",
        ["Q201 19"],
    ),
    "Q203 another dash": (" — a transpose", " - a transpose", ["Q203 19"]),
    "Q110 another sign": ("## why-leaf · open · mid", "## why-leaf - open - mid", ["Q110 139"]),
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
    "Q222 another wrong solution": (
        "### Wrong: returns itself\n\n```python\ndef square(x):\n",
        "### Wrong: returns itself\n\n```python\ndef examples():\n",
        ["Q222 130"],
    ),
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


def test_a_short_option_is_not_found_in_the_heading_or_the_question() -> None:
    text = "# tensors/views\n\n## a-view · choice · mid\n\nIs `b` a view?\n\n"
    text += "- [x] yes\n- [ ] a\n- [ ] b\n- [ ] b — twice\n"
    findings = read_bank(text, name="native.md").findings
    found = [(one.code, one.span.line, one.span.column) for one in findings if one.severity == "error"]
    assert [one for one in found if one[0] == "Q203"] == [("Q203", 8, 7), ("Q203", 9, 7)]
    assert ("Q205", 9, 7) in found


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


def test_items_that_all_have_the_number_one_are_counted_by_markdown() -> None:
    def repeated(*starts: str) -> list[str]:
        text = "# Quiz\n\n" + "".join(f"{start} What is thing {at}?\n\n" for at, start in enumerate(starts))
        return [one.message for one in read_bank(text, name="a.md").findings if one.code == "Q303"]

    assert repeated("1.", "1.", "1.") == []
    assert repeated("1.", "1.", "2.", "3.") == ["number 1 is used twice"]
    assert repeated("### 1.", "### 1.", "### 1.") == ["number 1 is used twice"] * 2


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


# Texts of findings: what is wrong, what to write, and what the caret points at

LIMIT = (
    "write a name and a number, such as `rtol: 1e-4`; the names are rtol, atol, wall_ms, memory_mb; "
    "or `device:` and one of cpu, cuda, both"
)
SAID = {
    "Q201 a box without a space": (
        "`[]` is not a check box",
        "put a space between the brackets: `- [ ]`",
        "- [] `(4, 1)` — a transpose does not move data",
    ),
    "Q203 another dash": (
        "wrong option `a` has no reason",
        "write ` — ` in place of ` - `, which is part of the option",
        "`(4, 1)` - a transpose does not move data: the strides change instead",
    ),
    "Q110 another sign": (
        "this heading is not `id · kind · level`",
        "write `## why-leaf · open · mid`, with the sign `·` between the words",
        "## why-leaf - open - mid",
    ),
    "Q200 nothing asked": (
        "the question has no prompt",
        "write the prompt below the heading",
        "## why-leaf · open · mid",
    ),
    "Q201 one option": (
        "a `choice` needs at least two options, it has 1",
        "write each as `- [ ] text — reason`, the correct one with `[x]`",
        "## transpose-strides · choice · mid",
    ),
    "Q202 none right": (
        "no option is marked as correct",
        "mark it with `[x]`",
        "## transpose-strides · choice · mid",
    ),
    "Q203 no reason": (
        "wrong option `a` has no reason",
        "add ` — ` and the misconception behind it",
        "`(4, 1)`",
    ),
    "Q204 an id twice": (
        "two options have the id `b`",
        "use a different id for each",
        "`(16, 4)`",
    ),
    "Q205 a text twice": (
        "two options are the same",
        "change or remove one",
        "`(4, 1)`",
    ),
    "Q206 an empty option": (
        "option `b` is empty",
        "write its text after the check box",
        "## transpose-strides · choice · mid",
    ),
    "Q209 no value": (
        "a `value` question needs an answer",
        "write it under `### Answer` in backticks",
        "## shape-of-sum · value · senior",
    ),
    "Q210 no literal": (
        "`shape` is not a Python literal",
        "write a number, a string, a tuple, a list, a dict, True, False or None",
        "### Answer",
    ),
    "Q211 no program": (
        "an `output` question needs a program",
        "put it in a fence under `### Program`",
        "## prints-sum · output",
    ),
    "Q212 no output": (
        "an `output` question needs its output",
        "put it in a fence under `### Output`",
        "## prints-sum · output",
    ),
    "Q220 a program": (
        "the program is not valid Python",
        "fix the syntax error",
        "for n in range(2:",
    ),
    "Q220 a proof": (
        "the proof is not valid Python",
        "fix the syntax error",
        "assert (tuple(torch.ones(2, 3).sum(0).shape) == (3,)",
    ),
    "Q221 no reference": (
        "the reference is missing",
        "put it in a fence under `### Reference`",
        "## square · code · principal",
    ),
    "Q222 another entry": (
        "`square` is not defined in the reference",
        "add `def square(…)`",
        "def cube(x):",
    ),
    "Q222 no hidden cases": (
        "`cases` is not defined in the cases",
        "add `def cases(…)`",
        "def examples():",
    ),
    "Q223 two wrong ones": (
        "a `code` question needs 3 wrong solutions, it has 2",
        "add plausible ones under `### Wrong: name of the mistake`",
        "## square · code · principal",
    ),
    "Q224 a name twice": (
        "a wrong solution needs a unique name, not `doubles`",
        "name it",
        "## square · code · principal",
    ),
    "Q230 no proof": (
        "nothing proves the key",
        "add a program under `### Proof` that fails when the key is false",
        "## why-leaf · open · mid",
    ),
    "Q231 no key points": (
        "an `open` question needs key points",
        "list them under `### Key points`",
        "## why-leaf · open · mid",
    ),
    "Q232 no model answer": (
        "an `open` question needs an answer",
        "write it under `### Answer`",
        "## why-leaf · open · mid",
    ),
    "Q301 an id twice": (
        "the id `square` is taken",
        "change one of the two",
        "square",
    ),
    "Q115 two fences": (
        "`Proof` needs exactly one fenced block, it has 2",
        "put the program in a ```python fence below the heading",
        "Proof",
    ),
    "Q117 a limit of another kind": (
        "this is not a limit",
        LIMIT,
        "- `wall: 2000`",
    ),
    "Q117 a device there is not": (
        "this is not a limit",
        LIMIT,
        "- `device: tpu`",
    ),
    "Q120 no address": (
        "this link has no URL",
        "write the full URL, starting with https://",
        "- pytorch.org",
    ),
    "Q121 two entries": (
        "the starter defines 2 functions or classes at module level, it must define one",
        "keep only the one to be written",
        "### Starter",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_a_finding_names_the_fault_and_the_cure_and_points_at_it(name: str) -> None:
    old, new, _ = BROKEN[name]
    reading = read_bank(NATIVE.replace(old, new, 1), name="native.md")
    (finding,) = reading.findings
    line = reading.source.line(finding.span.line)
    start, end = finding.columns(line)
    assert (finding.message, finding.help, line[start:end]) == SAID[name]
    assert finding.severity == ("warning" if finding.code == "Q230" else "error")


def test_invalid_python_is_labeled_with_what_python_says() -> None:
    old, new, _ = BROKEN["Q220 a program"]
    (finding,) = read_bank(NATIVE.replace(old, new, 1), name="native.md").findings
    assert finding.label == "invalid syntax"


def found_in(question: Question) -> list[tuple[str, str, str, str]]:
    """Returns severity, code, message and help of the findings on a question that no document could produce."""
    source = read_bank(NATIVE, name="native.md").source
    bank = Bank("small", "Small", (question,), dialects=("native",))
    return [(one.severity, one.code, one.message, one.help) for one in check_bank(bank, source)]


DRIVER = 'FACTS = {"result": "value"}\ndef drive(answer, x):\n    return {"result": answer(x)}\n'


@pytest.mark.parametrize(
    ("driver", "changes", "findings"),
    [
        (DRIVER, {}, []),
        (
            "x = 1",
            {},
            [
                ("error", "Q222", "`drive` is not defined in the driver", "add `def drive(…)`"),
                ("error", "Q225", "the driver declares no FACTS", "declare each as `value`, `effect` or `unprotected`"),
            ],
        ),
        (
            "x = (",
            {},
            [
                ("error", "Q220", "the driver is not valid Python", "fix the syntax error"),
                ("error", "Q225", "the driver is not Python", "declare each as `value`, `effect` or `unprotected`"),
            ],
        ),
        (
            DRIVER,
            {"device": "cuda"},
            [("error", "Q227", "a driver with its own process is for the CPU", "remove `device`")],
        ),
        (DRIVER.replace('"value"', '"unprotected"'), {"device": "cuda", "prompt": "It scores no points."}, []),
        (
            DRIVER.replace('"value"', '"unprotected"'),
            {},
            [
                (
                    "error",
                    "Q228",
                    "an answer can forge `result`, so the question scores no points",
                    "say in the prompt that it scores no points, or ask for a value",
                )
            ],
        ),
        (
            DRIVER.replace('"result": answer', '"other": answer'),
            {},
            [("error", "Q226", None, "measure it outside, or call it what it is")],
        ),
    ],
)
def test_a_driver_declares_facts_that_it_protects(
    driver: str, changes: dict[str, str], findings: list[tuple[str, str, str | None, str]]
) -> None:
    square = read_bank(NATIVE, name="native.md").bank.questions[3]
    assert square.task is not None
    device = changes.get("device", "cpu")
    task = dataclasses.replace(square.task, driver=driver, device=device)  # type: ignore[arg-type]
    question = dataclasses.replace(square, task=task, prompt=changes.get("prompt", square.prompt))
    got = found_in(question)
    assert [(one[0], one[1], two[2] and one[2], one[3]) for one, two in zip(got, findings, strict=True)] == findings


def test_an_oracle_is_valid_python() -> None:
    square = read_bank(NATIVE, name="native.md").bank.questions[3]
    assert square.task is not None
    question = dataclasses.replace(square, task=dataclasses.replace(square.task, oracle="x = ("))
    assert found_in(question) == [("error", "Q220", "the oracle is not valid Python", "fix the syntax error")]
    assert found_in(dataclasses.replace(square, task=dataclasses.replace(square.task, oracle="x = 1"))) == []


def test_a_wrong_solution_has_a_name_and_defines_the_entry() -> None:
    square = read_bank(NATIVE, name="native.md").bank.questions[3]
    assert square.task is not None
    first, *others = square.task.wrong
    for wrong, finding in (
        (dataclasses.replace(first, name=""), ("Q224", "a wrong solution needs a unique name, not ``", "name it")),
        (
            dataclasses.replace(first, code="def cube(x): ..."),
            ("Q222", "`square` is not defined in the wrong solution `doubles`", "add `def square(…)`"),
        ),
        (
            dataclasses.replace(first, code=""),
            (
                "Q221",
                "the wrong solution `doubles` is missing",
                "put it in a fence under `### Wrong solution `doubles``",
            ),
        ),
    ):
        task = dataclasses.replace(square.task, wrong=(wrong, *others))
        assert found_in(dataclasses.replace(square, task=task)) == [("error", *finding)]


FAMILY = "def draw(rng):\n    return {}\n"


@pytest.mark.parametrize(
    ("place", "changes", "parts"),
    [
        (0, {"options": ()}, []),
        (0, {}, ["options"]),
        (1, {"answer": None}, []),
        (1, {}, ["Answer"]),
        (1, {"program": "x = 1"}, ["Answer", "Program"]),
    ],
)
def test_a_family_generates_its_parts_itself(place: int, changes: dict[str, object], parts: list[str]) -> None:
    question = read_bank(NATIVE, name="native.md").bank.questions[place]
    family = dataclasses.replace(question, draw=FAMILY, **changes)  # type: ignore[arg-type]
    expected = [
        ("error", "Q240", f"a family generates its {part}", f"remove {part}: `draw(rng)` returns it") for part in parts
    ]
    assert [one for one in found_in(family) if one[1] != "Q203"] == expected
    undrawn = dataclasses.replace(family, draw="x = 1")
    assert ("error", "Q222", "`draw` is not defined in the draw", "add `def draw(…)`") in found_in(undrawn)


def test_what_no_database_stores_is_named() -> None:
    question = read_bank(NATIVE, name="native.md").bank.questions[4]
    for changed_one in (
        dataclasses.replace(question, prompt="a\0"),
        dataclasses.replace(question, key_points=("a", "\0b")),
        dataclasses.replace(question, code_blocks=(dataclasses.replace(CODE, text="\0"),)),
    ):
        assert found_in(changed_one) == [
            (
                "error",
                "Q010",
                "a text of the question contains U+0000, which is not a character",
                "remove it from the data",
            )
        ]


CODE = read_bank(NATIVE, name="native.md").bank.questions[0].code_blocks[0]

TWICE = "## 1. What is a view?\nA.\n\n## 2. What is a view?\n{}.\n"


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ("A", "Q302", "duplicate question"),
        ("B", "Q306", "the same question has a different answer"),
    ],
)
def test_a_question_twice_refers_to_the_first(answer: str, code: str, message: str) -> None:
    (finding,) = read_bank(TWICE.format(answer), name="a.md").findings
    assert (finding.severity, finding.code, finding.message) == ("warning", code, message)
    assert (finding.span.line, finding.note, finding.help) == (4, "the first is on line 1", "change one of the two")


def test_the_promise_of_a_title_is_marked() -> None:
    reading = read_bank("# The 50 most asked questions\n\n## 1. What is it?\na\n\n## 2. Who?\nb\n", name="a.md")
    (finding,) = reading.findings
    start, end = finding.columns(reading.source.line(1))
    assert reading.source.line(1)[start:end] == "50 most asked questions"
    assert (finding.severity, finding.message) == ("warning", "the title says 50 questions, the document has 2")
    assert finding.help == "correct the title, or look for questions that were not recognized"


def test_a_missing_number_is_a_note_with_a_cure() -> None:
    (finding,) = read_bank(numbered(1, 3), name="a.md").findings
    assert (finding.severity, finding.span.line) == ("note", 5)
    assert finding.help == "if it is in the document, write it like the others"


def test_tags_as_options_are_not_the_same() -> None:
    text = "".join(
        f"Question: Which tag is for {what}?\na) <{one}>\nb) <{two}>\nc) <{three}>\nAnswer: b\n\n"
        for what, one, two, three in (("lists", "lnk", "ul", "p"), ("links", "ul", "a", "ol"))
    )
    reading = read_bank(text, name="a.md")
    assert [option.text for one in reading.bank.questions for option in one.options if option.right] == ["<ul>", "<a>"]
    assert reading.findings == ()
