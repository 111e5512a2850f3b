"""Documents in the real sandbox: the programs that fail and the claims that are not so, each at its line."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from questions import Finding, read_bank, read_path
from questions.proof_report import ProofReport, proof_report_github, proof_report_json, proof_report_text
from sandbox.client import SandboxClient
from sandbox.wire import Outcome, Run
from service.banks import proving
from service.banks.proving import collect_results, plan_proofs, prove_all
from tests.external import SEEDS, needs_seeds

pytestmark = pytest.mark.sandbox


async def proved(sandbox: SandboxClient, text: str) -> ProofReport:
    """Proves a document and returns the result."""
    reading = read_bank(text, name="d.md")
    found = [one async for one in prove_all(plan_proofs([reading]), sandbox)]
    return collect_results([reading], found, {"torch": "2.13.0"}, 1.0)


async def told(sandbox: SandboxClient, text: str) -> list[tuple[str, str, int]]:
    """Returns code, severity and line of each finding."""
    (document,) = (await proved(sandbox, text)).documents
    return [(found.code, found.severity, found.span.line) for found in document.findings]


def fence(program: str, language: str = "python") -> str:
    """Returns a document with one program, which starts on line 4."""
    return f"# A document\n\n```{language}\n{textwrap.dedent(program).strip()}\n```\n"


TOLD = {
    "claims that hold": (
        """
        import torch
        x = torch.tensor([2.0], requires_grad=True)
        (x ** 2).backward()
        print(x.grad)  # tensor([4.])
        x.shape  # torch.Size([1])
        y = torch.arange(6).view(2, 3)  # (2, 3)
        z = torch.arange(0, 10, 2)  # [0, 2, 4, 6, 8]
        print(f"shape: {y.shape}")  # [2, 3]
        y.view(7)  # Error!
        y.add_(1)  # tensor([[1, 2, 3], [4, 5, 6]])
        print(y.float().mean())  # ~3.5
        for i in range(3): print(i)  # 0 1 2
        s = torch.tensor(5)  # 0D
        y[0, 0] = 9  # y[0, 0] = 9
        print(y.is_contiguous())  # Output: True
        """,
        [],
    ),
    "claims that do not": (
        """
        import torch
        x = torch.tensor([2.0, 3.0])
        print(x.sum())  # 5.0
        print(x)  # 2.0
        print(x)  # tensor([2, 3])
        print(x.dtype)  # float64
        y = x.view(2, 1)  # (1, 2)
        x.view(1, 2)  # raises RuntimeError
        print(f"sum = {x.sum().item()}")  # Output: sum = 6.0
        print(x.shape)
        # torch.Size([3])
        """,
        [
            ("P102", "warning", 6),
            ("P102", "error", 7),
            ("P102", "error", 8),
            ("P102", "error", 9),
            ("P102", "error", 10),
            ("P102", "error", 11),
            ("P102", "error", 12),
            ("P102", "error", 14),
        ],
    ),
    "a program that fails": (
        "import torch\n\n\ndef f(x):\n    return x.view(7)\n\n\nf(torch.zeros(2))",
        [("P101", "error", 8)],
    ),
    "a deprecated API": ("import torch\nscaler = torch.cuda.amp.GradScaler()", [("P103", "warning", 5)]),
    "a name nobody binds": ("import torch\nx = torch.ones(2)\nmodel(x)", [("P104", "error", 6)]),
    "a fragment": ("loss = model(batch)\nloss.backward()", [("P104", "warning", 4)]),
    "a missing import": (
        "x = torch.ones(2)\nprint(nn.ReLU()(x))  # tensor([0., 0.])",
        [("P104", "warning", 4), ("P102", "error", 5)],
    ),
    "no Python": ("x = 1\nprint 'hello'", [("P106", "error", 5)]),
    "a return outside a function": ("x = 1\nreturn x", [("P106", "error", 5)]),
    "no device": ("import torch\nx = torch.ones(2).cuda()\nprint(x.sum())  # 7", [("P107", "note", 5)]),
    "no package": ("import surely_not_installed", [("P107", "note", 4)]),
    "no file": ("import torch\ntorch.load('model.pt')", [("P107", "note", 5)]),
    "chance": (
        "import torch\nprint(torch.rand(2))  # tensor([0.4963, 0.7682])\nprint(torch.rand(2).shape)  # torch.Size([2])",
        [("P108", "note", 5)],
    ),
    "seeded chance": (
        "import torch\n_ = torch.manual_seed(0)\nprint(torch.rand(2))  # tensor([0.4963, 0.7682])\n"
        "print(torch.rand(1))  # 0.5",
        [("P102", "error", 7)],
    ),
    "what hangs on the machine": (
        "import torch\nprint(torch.cuda.is_available())  # True",
        [("P107", "note", 5)],
    ),
    "a warning": (
        "import torch\np = [torch.nn.Parameter(torch.ones(1))]\no = torch.optim.SGD(p)\n"
        "torch.optim.lr_scheduler.StepLR(o, 1).step()",
        [("P109", "note", 7)],
    ),
    "an early end": ("import os\nos._exit(0)", [("P101", "error", 4)]),
    "its own end": ("import sys\nsys.exit(0)", []),
    "a notebook's magic": (
        "!pip install torch\nimport torch\nprint(torch.ones(1))  # tensor([2.])",
        [("P102", "error", 6)],
    ),
}


@pytest.mark.parametrize("name", TOLD)
async def test_a_program_is_run_unchanged(sandbox: SandboxClient, name: str) -> None:
    program, expected = TOLD[name]
    assert await told(sandbox, fence(program)) == expected


async def test_a_program_without_an_end_is_stopped(sandbox: SandboxClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # It uses up all of its CPU time, which is ten seconds outside tests.
    monkeypatch.setattr(proving, "SNIPPET_LIMITS", replace(proving.SNIPPET_LIMITS, cpu_ms=500))
    assert await told(sandbox, fence("while True:\n    pass")) == [("P105", "warning", 4)]


SESSION = """
>>> import torch
>>> x = torch.arange(8).view(2, 2, 2)
>>> x
tensor([[[0, 1],
         [2, 3]],

        [[4, 5],
         [6, 7]]])
>>> x.sum()
tensor(29)
>>> x.view(7)
RuntimeError: shape '[7]' is invalid for input of size 8
>>> y = x + 1
tensor(1)
"""


async def test_a_session_is_answered_prompt_by_prompt(sandbox: SandboxClient) -> None:
    assert await told(sandbox, fence(SESSION)) == [("P102", "error", 13), ("P102", "warning", 17)]
    assert (await proved(sandbox, fence(SESSION))).documents[0].held == 2


@pytest.mark.parametrize("between", ["", "\nOutput:\n", "\n**This prints:**\n"])
async def test_a_block_of_output_is_what_is_printed(sandbox: SandboxClient, between: str) -> None:
    program = fence("print(1)\nprint(2)\nprint(3)")
    right = f"{program}{between}\n```text\n1\n2\n3\n```\n"
    wrong = f"{program}{between}\n```text\n1\n5\n3\n```\n"
    assert await told(sandbox, right) == []
    (line,) = [number for number, text in enumerate(wrong.split("\n"), 1) if text == "5"]
    assert await told(sandbox, wrong) == [("P102", "error", line)]


async def test_the_value_of_the_last_line_may_be_shown(sandbox: SandboxClient) -> None:
    assert await told(sandbox, fence("x = [1, 2]\nx") + "\n```output\n[1, 2]\n```\n") == []


async def test_a_line_of_output_is_a_claim(sandbox: SandboxClient) -> None:
    assert await told(sandbox, fence("print(2 + 2)") + "\n**Output:** `5`\n") == [("P102", "error", 7)]


async def test_a_program_in_a_list_is_found_at_its_line_and_column(sandbox: SandboxClient) -> None:
    document = "1. **What is it?**\n   * *Answer*: this\n\n     ```python\n     print(1)  # 2.5\n     ```\n"
    ((found,),) = [one.findings for one in (await proved(sandbox, document)).documents]
    assert (found.code, found.span.line, found.span.column, found.label) == ("P102", 5, 18, "it prints `1`")


TWO = """\
### 1. What is a tensor?
**Answer:** This.

```python
import torch
x = torch.ones(2)
```

And then:

```python
print(x.sum())  # tensor(3.)
```

### 2. What is another?
**Answer:** That.

```python
print(x.sum())  # tensor(3.)
```
"""


async def test_a_program_goes_on_from_an_earlier_one(sandbox: SandboxClient) -> None:
    # Of the second question it is only warned: it may not have meant the first one's `x`.
    assert await told(sandbox, TWO) == [
        ("P104", "note", 12),
        ("P102", "error", 12),
        ("P104", "note", 19),
        ("P102", "warning", 19),
    ]


@pytest.mark.parametrize(
    "document",
    [
        fence("import torch\ntorch.ones(2).view(3)").replace("```python", "This raises a `RuntimeError`:\n\n```python"),
        fence("import torch\ntorch.ones(2).view(3)") + "\nIt ends with `RuntimeError`.\n",
        fence("import torch\ntorch.ones(2).view(3)", "python no-run"),
        fence("import torch\ntorch.ones(2).view(3)  # may fail"),
        fence("torch.ones(2).view(3)", "text"),
        fence("x = f(y)", ""),
    ],
)
async def test_what_is_shown_in_order_to_fail_or_not_to_run(sandbox: SandboxClient, document: str) -> None:
    assert await told(sandbox, document) == []


NATIVE = """\
---
bank: wrong
title: Wrong on purpose
license: MIT
---

# tensors

## strides · value · mid

What are the strides?

```python
import torch
x = torch.zeros(3, 4)  # (4, 3)
model(x)
```

### Answer
`(1, 4)`

### Proof
```python
import torch
x = torch.zeros(3, 4)
answer = x.stride()
```

## sum · output · mid

What does it print?

### Program
```python
import torch
print(1)
print(torch.ones(2).sum())
```

### Output
```text
1
2.0
```
"""


async def test_false_keys_are_found_at_the_line_that_says_them(sandbox: SandboxClient) -> None:
    (document,) = (await proved(sandbox, NATIVE)).documents
    assert [(one.code, one.span.line, one.label) for one in document.findings] == [
        ("P102", 15, "it gives `(3, 4)`"),
        ("P125", 20, ""),
        ("P121", 43, "it prints `tensor(2.)`"),
    ]
    assert document.findings[1].note == "the proof computes (4, 1), the key says (1, 4)"


PRINTED = """\
error[P102]: `print(x.grad)` does not print `4.0`
 --> d.md:7:17
  |
7 | print(x.grad) # 4.0 (dy/dx = 2x)
  |                 ^^^ it prints `tensor([4.])`
  = help: write `# tensor([4.])`, or take its number with `.item()`

d.md: 0 proved, 1 shown program run, 1 error

total: 1 document, 0 proved, 1 shown program run, 1 error, with torch 2.13.0 in 1.0 s
`dailygrad bank explain P102` explains it; all codes found: P102
"""
GRAD = """
import torch
x = torch.tensor([2.0], requires_grad=True)
(x ** 2).backward()
print(x.grad) # 4.0 (dy/dx = 2x)
"""


async def test_a_failed_proof_is_printed_like_a_message_of_a_compiler(sandbox: SandboxClient) -> None:
    proving = await proved(sandbox, fence(GRAD))
    assert proving.has_errors
    assert proof_report_text(proving).plain == PRINTED
    data = json.loads(proof_report_json(proving))
    assert (data["torch"], data["held"], data["programs"], data["troubles"]) == ("2.13.0", 0, 1, [])
    assert data["documents"][0]["findings"][0]["span"] == {"line": 7, "column": 17, "end_line": 7, "end_column": 20}
    assert (
        proof_report_github(proving).split("\n")[0].startswith("::error file=d.md,line=7,endLine=7,col=17,title=P102::")
    )
    assert proof_report_github(proving).endswith("with torch 2.13.0")


class Broken:
    """A sandbox that fails, as one that lost its supervisor does."""

    async def run(self, run: Run) -> Outcome:
        return Outcome(id=run.id, status="internal", detail="nobody answers")


async def test_a_failure_of_the_sandbox_is_never_a_finding() -> None:
    reading = read_bank(NATIVE, name="d.md")
    found = [one async for one in prove_all(plan_proofs([reading]), Broken())]
    proving = collect_results([reading], found, {}, 1.0)
    assert proving.documents[0].findings == ()
    assert [trouble.partition(": ")[0] for trouble in sorted(proving.troubles)] == ["d.md:14", "strides", "sum"]
    assert not proving.has_errors


def named(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    return [(found.code, found.severity, found.span.line) for found in findings]


@needs_seeds
async def test_the_five_documents_get_their_findings(
    sandbox: SandboxClient,
) -> None:
    readings = [reading for file in sorted(SEEDS.glob("00*.txt")) for reading in read_path(file)]
    found = [one async for one in prove_all(plan_proofs(readings), sandbox)]
    documents = {Path(one.source.name).name[:3]: one for one in collect_results(readings, found, {}, 1.0).documents}
    assert {name: one.programs for name, one in documents.items()} == {
        "000": 0,
        "001": 0,
        "002": 10,
        "003": 2,
        "004": 0,
    }
    assert named(documents["002"].findings) == [
        ("P109", "note", 345),
        ("P103", "warning", 509),
        ("P103", "warning", 511),
        ("P104", "error", 516),
    ]
    assert "`optimizer` is not defined" in documents["002"].findings[-1].message
    assert documents["002"].held == 12
    assert named(documents["003"].findings) == [("P104", "warning", 32), ("P102", "error", 35), ("P104", "warning", 63)]
    assert documents["003"].findings[1].label == "it prints `tensor([4.])`"
    assert [documents[name].findings for name in ("000", "001", "004")] == [(), (), ()]
