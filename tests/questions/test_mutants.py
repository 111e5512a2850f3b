"""The deliberate mistakes with which proofs are tested."""

from __future__ import annotations

import ast

import pytest

from questions import read_bank
from questions.facts import Facts
from questions.model import Question
from questions.mutants import MAX_REFERENCE_MUTANTS, key_mutants, reference_mutants


def asked(kind: str, key: str) -> Question:
    (question,) = read_bank(f"## a · {kind} · mid\n\nWhat?\n\n{key}\n", name="d.md").bank.questions
    return question


ONE_RIGHT = asked("choice", "- [ ] two — no\n- [x] 4 kB\n- [ ] six — no")


def key(question: Question) -> str:
    return " ".join(f"{'x' if option.right else '-'}{option.text}" for option in question.options)


def test_marks_and_texts_of_a_choice() -> None:
    assert {mutant.name: key(mutant.question) for mutant in key_mutants(ONE_RIGHT)} == {
        "the mark moved to a": "xtwo -4 kB -six",
        "the mark of a added": "xtwo x4 kB -six",
        "the mark moved to c": "-two -4 kB xsix",
        "the mark of c added": "-two x4 kB xsix",
        "the texts of b and a swapped": "-4 kB xtwo -six",
        "the texts of b and c swapped": "-two xsix -4 kB",
        "b changed to 5 kB": "-two x5 kB -six",
    }


def test_a_mark_among_several_is_removed() -> None:
    names = [mutant.name for mutant in key_mutants(asked("choice", "- [x] one\n- [x] two\n- [ ] three — no"))]
    assert names[:3] == ["the mark of a removed", "the mark of b removed", "the mark of c added"]


def test_a_number_is_not_changed_in_an_option_that_is_evaluated() -> None:
    names = [mutant.name for mutant in key_mutants(ONE_RIGHT, Facts(held={"4 kB": True}))]
    assert len(names) == 6 and not any("changed" in name for name in names)


@pytest.mark.parametrize(
    ("literal", "changed"),
    [
        ("4", ["5", "8"]),
        ("-4", ["4"]),
        ("0", ["1"]),
        ("-0.0", []),
        ("0.5", ["0.55", "1.5"]),
        ("True", ["False"]),
        ("'float32'", ["'float32x'"]),
        ("None", ["0"]),
        ("(1, 4)", ["(1, 4, 1)", "(1,)", "(4, 1)", "(2, 4)", "(1, 5)", "(1, 8)"]),
        ("[]", ["[1]"]),
        ("[[1], 1]", ["[[1], 1, 1]", "[[1]]", "[1, [1]]", "[[1, 1], 1]", "[[], 1]", "[[2], 1]", "[[1], 2]"]),
    ],
)
def test_literals(literal: str, changed: list[str]) -> None:
    found = [mutant.question.answer for mutant in key_mutants(asked("value", f"### Answer\n\n`{literal}`"))]
    assert found == changed
    assert all(ast.literal_eval(text or "") != ast.literal_eval(literal) for text in found)


def test_lines_of_output() -> None:
    question = asked("output", "### Program\n\n```python\nf()\n```\n\n### Output\n\n```text\n1 2\nTrue\n```")
    assert [mutant.question.answer for mutant in key_mutants(question)] == [
        "2 2\nTrue",
        "1 2\nTrue.",
        "True\n1 2",
        "1 2",
    ]


def test_only_key_points_that_a_proof_names_are_changed() -> None:
    question = asked(
        "open", "### Answer\n\nSo.\n\n### Key points\n\n- float16 underflows\n- clip it\n- float32 is fine"
    )
    names = [mutant.name for mutant in key_mutants(question, Facts(named={"float16": True, "clip": True}))]
    assert names == ["key point 1 removed", "key point 1 changed to float17 underflows", "key point 2 removed"]
    assert len(key_mutants(question)) == 5


REFERENCE = """
def f(x, y):
    \"\"\"Says 1.\"\"\"
    x.add_(1)
    if x < 0 and not y:
        return -x
    return g(x, y) / 2 if x == max(x, y) else True
"""


def test_a_reference_is_changed_in_one_place_at_a_time() -> None:
    found = {mutant.name: mutant.program for mutant in reference_mutants(REFERENCE, most=100)}
    assert set(found) == {
        "line 2: `x.add_(1)` removed",
        "line 4: 1 to 2",
        "line 5: And to Or",
        "line 5: Lt to LtE",
        "line 5: 0 to 1",
        "line 5: condition negated",
        "line 6: minus removed",
        "line 7: Div to Mult",
        "line 7: 2 to 3",
        "line 7: arguments swapped",
        "line 7: Eq to NotEq",
        "line 7: condition negated",
        "line 7: True to False",
    }
    original = ast.unparse(ast.parse(REFERENCE))
    assert all(ast.unparse(ast.parse(program)) != original for program in found.values())
    assert "Says 1." in found["line 2: `x.add_(1)` removed"]


def test_mutants_of_a_long_reference_are_spread_over_it() -> None:
    program = "\n".join(["def f(x):", *(f"    x += {number}" for number in range(100)), "    return x"])
    lines = [int(mutant.name.split()[1].rstrip(":")) for mutant in reference_mutants(program)]
    assert len(lines) == MAX_REFERENCE_MUTANTS
    assert min(lines) < 10 and max(lines) > 85


def test_a_program_that_does_not_parse_has_no_mutants() -> None:
    assert reference_mutants("def f(:") == []
