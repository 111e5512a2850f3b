"""What a proof says about a key: the names it binds, the facts it only states, and the parts it names."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.facts import Facts, bound_names, constant_facts, facts_from, match_fragments, option_text, runnable_proof
from questions.model import Question

KEYS = {
    "value": "### Answer\n\n`4`\n",
    "choice": "- [x] `x.sum()`\n- [ ] It raises — no\n- [ ] 4 kB — no\n",
    "open": "### Answer\n\nSo.\n\n### Key points\n\n- small numbers underflow\n",
}


def asked(kind: str, proof: str) -> Question:
    text = f"## a · {kind} · mid\n\nWhat?\n\n{KEYS[kind]}\n### Proof\n\n```python\n{proof}\n```\n"
    (question,) = read_bank(text, name="d.md").bank.questions
    return question


BOUND = [
    ("value", "answer = f()", ("answer",)),
    ("value", "assert f() == 4", ()),
    ("value", "options = {}", ()),
    ("value", "def answer():\n    return 4", ("answer",)),
    ("value", "def f():\n    answer = 4", ()),
    ("value", "with g():\n    answer = f()", ("answer",)),
    ("value", "try:\n    f()\nexcept ValueError:\n    answer = 1\nelse:\n    answer = 2", ("answer",)),
    ("value", "a, answer = f()", ("answer",)),
    ("value", "answer: int", ()),
    ("value", "answer: int = f()", ("answer",)),
    ("choice", "holds = lambda o: eval(o)", ("holds",)),
    ("choice", "options = {}\nfor o in f():\n    options[o] = g(o)", ("options",)),
    ("choice", "options = {'It': f()}\nanswer = f()", ("options", "answer")),
    ("open", "points = {'small': f()}", ("points",)),
    ("open", "answer = f()", ()),
    ("open", "points = (", ()),
]


@pytest.mark.parametrize(("kind", "proof", "names"), BOUND)
def test_the_names_that_a_proof_binds(kind: str, proof: str, names: tuple[str, ...]) -> None:
    assert bound_names(asked(kind, proof)) == names


STATED = [
    ("value", "answer = 4", ["answer"]),
    ("value", "answer = -4", ["answer"]),
    ("value", "answer = (1, [4, 'x'])", ["answer"]),
    ("value", "KEY = 4\nanswer = KEY", ["answer"]),
    ("value", "A = 4\nB = A\nanswer = [B]", ["answer"]),
    ("value", "answer = int('4')", ["answer"]),
    ("value", "answer = {'a': 4}['a']", ["answer"]),
    ("value", "answer = 2 * 2", []),
    ("value", "answer = f(4)", []),
    ("value", "KEY = f()\nanswer = KEY", []),
    ("value", "n = 0\nfor _ in f():\n    n += 1\nanswer = n", []),
    ("value", "answer = 0\nfor _ in f():\n    answer += 1", []),
    ("value", "try:\n    f()\nexcept ValueError:\n    answer = 'raises'\nelse:\n    answer = 'returns'", []),
    ("value", "seen = []\nfor _ in range(3):\n    seen.append(f())\nanswer = seen[-1]", []),
    ("value", "seen = []\nseen.append(4)\nanswer = seen[-1]", ["answer"]),
    ("value", "KEY = 4\nseen = [KEY]\nseen.append(KEY)\nanswer = seen[0]", ["answer"]),
    ("value", "seen = [4]\nseen.index(4)\nanswer = seen[0]", ["answer"]),
    ("choice", "options = {'x.sum()': True, 'It raises': not True, '4 kB': f()}", ["x.sum()", "It raises"]),
    ("choice", "options = {'x.sum()': 1 == 1, '4 kB': 2**3 == 8}", ["x.sum()"]),
    ("choice", "RIGHT = ['x.sum()']\noptions = {o: o in RIGHT for o in ['x.sum()', '4 kB']}", ["o in RIGHT"]),
    ("choice", "options = {o: f(o) for o in ['x.sum()', '4 kB']}", []),
    ("choice", "options = dict(zip(['x.sum()'], [True]))", ["dict(zip(['x.sum()'], [True]))"]),
    ("choice", "options = {}\noptions['4 kB'] = False\noptions['x.sum()'] = f()", ["'4 kB'"]),
    ("choice", "holds = lambda o: o == 'x.sum()'", ["holds"]),
    ("choice", "RIGHT = {'x.sum()'}\n\n\ndef holds(o):\n    found = o in RIGHT\n    return found", ["holds"]),
    ("choice", "holds = lambda o: eval(o) == 3", []),
    ("choice", "holds = lambda o: o == wanted", []),
    ("open", "points = {'small': True}", ["small"]),
    ("open", "points = {'small': f() == 0}", []),
]


@pytest.mark.parametrize(("kind", "proof", "stated"), STATED)
def test_a_fact_that_is_stated_is_found(kind: str, proof: str, stated: list[str]) -> None:
    assert constant_facts(asked(kind, proof)) == stated


TEXTS = ["`x.sum()`", "4 kB", "4 kB on disk, and *all* the rest", "Both  stay\nas they are"]
NAMED: list[tuple[list[str], dict[int, str], list[str]]] = [
    (["x.sum()"], {0: "x.sum()"}, []),
    (["`x.sum()`"], {0: "`x.sum()`"}, []),
    (["4 kB", "on disk"], {1: "4 kB", 2: "on disk"}, []),
    (["kB"], {}, ["kB"]),
    (["and all the rest", "Both stay as"], {2: "and all the rest", 3: "Both stay as"}, []),
    (["nothing", ""], {}, ["nothing", ""]),
    (["Both", "they are"], {3: "Both"}, ["they are"]),
    (["4 kB", "`4 kB`"], {1: "`4 kB`"}, ["4 kB"]),
]


@pytest.mark.parametrize(("fragments", "found", "unclear"), NAMED)
def test_a_fragment_is_about_one_text(fragments: list[str], found: dict[int, str], unclear: list[str]) -> None:
    assert match_fragments(fragments, TEXTS) == (found, unclear)


def test_options_are_evaluated_as_they_are_read() -> None:
    assert [option_text(text) for text in TEXTS[:2]] == ["x.sum()", "4 kB"]


def test_facts_are_data() -> None:
    raised = "ValueError: no (line 2)"
    found = {"answer": "4", "options": {"4 kB": True}, "holds": [True, raised]}
    assert facts_from("choice", ["a", "b"], found) == Facts("4", {"4 kB": True}, {"a": True, "b": raised})
    assert facts_from("open", [], {"points": {"a": False}, "options": {"b": 1}}) == Facts(None, {"a": False}, {})


@pytest.mark.parametrize(
    "found",
    [{"answer": 4}, {"options": [True]}, {"options": {"a": 1}}, {"holds": [True]}, {"holds": [1, 2]}, {"holds": "ab"}],
)
def test_facts_of_another_type_are_refused(found: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="facts are n"):
        facts_from("choice", ["a", "b"], found)


SHOWN = [
    ("value", "answer = 2 + 2", "4\n"),
    (
        "choice",
        "options = {'x': 2 > 1}\nholds = lambda o: len(o) > 6",
        "{'x': True}\nx.sum() True\nIt raises True\n4 kB False\n",
    ),
    ("open", "points = {'small': 2 > 1}", "{'small': True}\n"),
    ("open", "assert 2 > 1", ""),
]


@pytest.mark.parametrize(("kind", "proof", "printed"), SHOWN)
def test_the_shown_proof_prints_what_it_computed(
    kind: str, proof: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(runnable_proof(asked(kind, proof)), "proof", "exec"), {})
    assert capsys.readouterr().out == printed
