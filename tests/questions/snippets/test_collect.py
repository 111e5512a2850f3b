"""Which blocks of a document are programs, where they begin, and what belongs to them."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.snippets import Attempt, RunReport, next_attempt, program_of, read_run, snippets_of
from questions.snippets.collect import bound_names, examples_of, free_names
from questions.snippets.plan import RaisedException


def firsts(document: str) -> list[tuple[int, str]]:
    """Returns the line number and the first line of each program."""
    return [(one.first, one.text.split("\n")[0]) for one in snippets_of(read_bank(document, name="d.md"))]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("```python\nx = 1\n```", [(2, "x = 1")]),
        ("```py\nx = 1\n```", [(2, "x = 1")]),
        ("```text\nx = 1\n```", []),
        ("```bash\npip install torch\n```", []),
        ("```\nimport torch\n```", [(2, "import torch")]),
        ("```\nx = 1\n```", []),
        ("```\n>>> 1\n1\n```", [(2, ">>> 1")]),
        ("    import torch\n    x = 1", [(1, "import torch")]),
        ("- a\n\n  ```python\n  x = 1\n  ```", [(4, "x = 1")]),
        ("> ```python\n> x = 1\n> ```", [(2, "x = 1")]),
        ("```python no-run\nx = 1\n```", []),
        ("``` {.python .no-run}\nx = 1\n```", []),
        ("```python\n\n```", []),
    ],
)
def test_which_blocks_are_programs(document: str, expected: list[tuple[int, str]]) -> None:
    assert firsts(document) == expected


def test_a_program_in_a_list_keeps_its_lines() -> None:
    (snippet,) = snippets_of(read_bank("1. a\n\n    ```python\n    x = 1\n    y = 2\n    ```\n", name="d.md"))
    assert (snippet.text, snippet.line_of(2)) == ("x = 1\ny = 2", 5)


def test_the_question_of_a_program_is_known() -> None:
    document = "```python\na = 1\n```\n\n### 1. What is it?\n**Answer:** this\n\n```python\nb = 1\n```\n"
    assert [one.question for one in snippets_of(read_bank(document, name="d.md"))] == ["", "what-is-it"]


@pytest.mark.parametrize(
    ("behind", "text"),
    [
        ("```text\n1\n```", "1"),
        ("```output\n1\n```", "1"),
        ("Output:\n\n```\n1\n```", "1"),
        ("**Expected output**\n\n```\n1\n```", "1"),
        ("Output: `1`", "1"),
        ("```\n1\n```", None),
        ("```python\n1\n```", None),
        ("Some other words.\n\n```text\n1\n```", None),
    ],
)
def test_the_output_that_belongs_to_a_program(behind: str, text: str | None) -> None:
    snippet = snippets_of(read_bank(f"```python\nprint(1)\n```\n\n{behind}\n", name="d.md"))[0]
    assert (snippet.output.text if snippet.output else None) == text


def test_names_a_program_binds_and_takes() -> None:
    program = "import torch\ndef f(a):\n    return a + b + torch.ones(1)\nclass C:\n    x = y\nfor i in z: print(i)\n"
    assert free_names(program) == {"b", "y", "z"}
    assert bound_names(program) == {"torch", "f", "C", "i"}


def test_a_session_is_taken_apart() -> None:
    text = ">>> x = [\n...     1]\n>>> x\n[1]\n>>> x[3]\nTraceback (most recent call last):\n  ...\nIndexError: no\n"
    examples, problem = examples_of(text)
    assert problem is None
    assert [(one.line, one.want, one.fails, one.error, one.assigns) for one in examples] == [
        (1, "", False, "", True),
        (3, "[1]\n", False, "", False),
        (5, "Traceback (most recent call last):\n  ...\nIndexError: no\n", True, "IndexError", False),
    ]


CHAIN = """\
# One

```python
import torch
x = torch.ones(2)
```

```python
y = x + 1
```

```python
print(y)
```

# Another

```python
print(y, nn)
```
"""


def lacking(name: str) -> RunReport:
    failure = RaisedException("NameError", ("NameError", "Exception"), f"name '{name}' is not defined", (1,), name)
    return RunReport("ok", reported=True, executions={}, failure=failure)


def test_what_binds_a_name_runs_before_with_all_that_it_lacks() -> None:
    snippets = snippets_of(read_bank(CHAIN, name="d.md"))
    attempt = next_attempt(snippets, 2, Attempt(), lacking("y"))
    assert attempt is not None
    assert (attempt.earlier, set(attempt.borrowed), attempt.near) == ((0, 1), {"x", "y"}, True)
    assert next_attempt(snippets, 2, attempt, lacking("y")) is None


def test_another_section_is_not_near_and_what_all_know_is_imported() -> None:
    snippets = snippets_of(read_bank(CHAIN, name="d.md"))
    attempt = next_attempt(snippets, 3, Attempt(), lacking("nn"))
    assert attempt is not None
    assert (attempt.imports, attempt.earlier, attempt.near) == (("nn",), (0, 1), False)


def test_an_unbound_name_is_always_reported() -> None:
    snippets = snippets_of(read_bank(CHAIN, name="d.md"))
    assert next_attempt(snippets, 0, Attempt(), lacking("optimizer")) is None
    assert next_attempt(snippets, 0, Attempt(), RunReport("ok", reported=True)) is None


def test_the_program_for_the_sandbox_is_python_and_names_its_mark() -> None:
    snippets = snippets_of(read_bank(CHAIN, name="d.md"))
    program = program_of(snippets, 2, Attempt(earlier=(0, 1)), "the-mark")
    compile(program, "program", "exec")
    assert "the-mark" in program


@pytest.mark.parametrize(
    "stdout", ["", "nothing", "mark", "mark{", "mark[]", 'mark{"printed": 1}', 'x mark{"printed": ""}']
)
def test_a_malformed_report_is_ignored(stdout: str) -> None:
    assert not read_run("ok", stdout, "", "mark").reported
