"""A question for a GPU counts as not yet proved on one until a GPU has judged its reference, and as soon as it changes.

The GPU is played: runs for it go to the real sandbox's CPU.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from questions import Question, Reading, as_data, from_data, read_bank
from questions.export.native import native_text
from questions.model import Device
from questions.proof_report import ProofReport, proof_report_github, proof_report_json, proof_report_text
from questions.proofs import gpu_fingerprint, lacks_gpu_proof
from sandbox.client import SandboxClient
from sandbox.wire import Outcome, Run
from service.banks.proof_checks import ProofSettings
from service.banks.proof_runs import run_proof
from service.banks.proving import collect_results, plan_proofs, prove_all
from tests.questions.shipped import read_shipped_bank

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).parents[3]

BANK = """\
---
bank: cards
title: Cards
license: MIT
---

# tensors

## double · code · mid

Write `double(x)`.

### Starter
```python
def double(x):
    ...
```

### Reference
```python
def double(x):
    return x + x
```

### Cases
```python
import torch


def examples():
    return [(torch.tensor([1.0]),)]


def expected():
    return [torch.tensor([2.0])]


def cases(rng):
    return [(torch.randn(3),) for _ in range(3)]
```

### Oracle
```python
def double(x):
    return 2 * x
```

### Wrong: squares
```python
def double(x):
    return x * x
```

### Wrong: adds one
```python
def double(x):
    return x + 1
```

### Wrong: gives it back
```python
def double(x):
    return x
```

### Limits
- device: both
"""


SUBJECTS = {
    "memory formats": "images-for-a-convolution",
    "streams and events": "squares-on-a-second-stream",
    "pinned memory and overlap": "metrics-on-their-way-home",
    "mixed precision and bfloat16": "logits-in-bfloat16",
    "graphs": "up-to-a-captured-size",
    "caching allocator": "held-by-a-slice",
    "fused kernels": "backward-of-a-gated-unit",
    "determinism": "the-same-noise-on-any-device",
}
"""What code for a GPU needs that code for the CPU does not, and a question for both devices about each."""


class PlayedGpu:
    """A sandbox whose GPU is the CPU, or which has none."""

    def __init__(self, sandbox: SandboxClient, *, there: bool, wrong: bool = False) -> None:
        self._sandbox, self._there, self._wrong = sandbox, there, wrong
        self.on_gpu = 0

    async def run(self, run: Run) -> Outcome:
        if run.device == "cpu":
            return await self._sandbox.run(run)
        if not self._there:
            return Outcome(id=run.id, status="internal", detail="no card", refused="device")
        self.on_gpu += 1
        code = run.code.replace("x + x", "x + x + 1") if self._wrong else run.code
        outcome = await self._sandbox.run(dataclasses.replace(run, device="cpu", code=code))
        return dataclasses.replace(outcome, device="cuda")


def cards(limits: str = "", device: Device = "both") -> Reading:
    reading = read_bank(BANK.replace("device: both", f"device: {device}") + limits, name="cards.md")
    assert not reading.has_errors, reading.findings
    return reading


def question(reading: Reading) -> Question:
    return reading.bank.questions[0]


async def proved(reading: Reading, sandbox: PlayedGpu) -> ProofReport:
    work = plan_proofs([reading], settings=ProofSettings(mutation=False))
    return collect_results([reading], [one async for one in prove_all(work, sandbox)], {"torch": "2"}, 1.0)


async def test_without_a_gpu_it_is_called_not_yet_proved_there(sandbox: SandboxClient) -> None:
    report = await proved(cards(), PlayedGpu(sandbox, there=False))
    assert not report.has_errors and not report.troubles
    assert "not yet proved on a GPU (1): double" in proof_report_text(report).plain
    assert "::notice title=GPU::not yet proved on a GPU (1): double" in proof_report_github(report)
    (document,) = json.loads(proof_report_json(report))["documents"]
    assert document["gpu"] == [{"question": "double", "state": "not yet proved", "fingerprint": ""}]


async def test_a_gpu_s_verdict_gives_the_mark_and_the_mark_ends_the_remark(sandbox: SandboxClient) -> None:
    gpu = PlayedGpu(sandbox, there=True)
    report = await proved(cards(), gpu)
    assert gpu.on_gpu == 1, "the reference meets the cases on the GPU too"
    mark = gpu_fingerprint_of(cards())
    text = proof_report_text(report).plain
    assert f"double: proved on a GPU; write `- gpu_proof: {mark}` under its Limits" in text
    assert "not yet proved" not in text
    marked = cards(f"- gpu_proof: {mark}\n")
    assert not lacks_gpu_proof(question(marked).task)
    for there in (True, False):
        text = proof_report_text(await proved(marked, PlayedGpu(sandbox, there=there))).plain
        assert "GPU" not in text, text


async def test_what_is_wrong_on_the_gpu_is_not_proved(sandbox: SandboxClient) -> None:
    report = await proved(cards(), PlayedGpu(sandbox, there=True, wrong=True))
    assert [found.code for found in report.documents[0].findings] == ["P122"]
    assert "on the GPU" in report.documents[0].findings[0].note
    assert report.documents[0].gpu == ()


async def test_the_question_s_page_says_it_was_proved_without_a_gpu(sandbox: SandboxClient) -> None:
    run = await run_proof(question(cards()), PlayedGpu(sandbox, there=False))
    assert (run.holds, run.note) == (True, "no gpu")
    run = await run_proof(question(cards()), PlayedGpu(sandbox, there=True))
    assert (run.holds, run.note) == (True, "")


def gpu_fingerprint_of(reading: Reading) -> str:
    task = question(reading).task
    assert task is not None
    return gpu_fingerprint(task)


def test_any_change_of_what_is_proved_makes_the_mark_stale() -> None:
    mark = gpu_fingerprint_of(cards())
    task = question(cards(f"- gpu_proof: {mark}\n")).task
    assert task is not None and not lacks_gpu_proof(task)
    assert not lacks_gpu_proof(dataclasses.replace(task, starter="def double(x): ..."))
    changes: dict[str, Any] = {"reference": "x", "cases": "x", "oracle": "x", "wrong": (), "device": "cuda"}
    for name, value in changes.items():
        assert lacks_gpu_proof(dataclasses.replace(task, **{name: value})), name
    assert not lacks_gpu_proof(dataclasses.replace(task, device="cpu", gpu_proof=""))
    assert not lacks_gpu_proof(None)


def test_exports_carry_the_mark_and_say_none_where_there_is_none() -> None:
    mark = gpu_fingerprint_of(cards())
    for limits, said in (("", "none"), (f"- gpu_proof: {mark}\n", mark), ("- gpu_proof: 0123456789ab\n", "none")):
        written = native_text(cards(limits).bank)
        assert f"- `gpu_proof: {said}`" in written
        again = read_bank(written, name="again.md")
        assert not again.has_errors
        task = question(again).task
        assert task is not None and task.gpu_proof == said.removeprefix("none")
        assert from_data(as_data(question(again))) == question(again)
    assert "gpu_proof" not in native_text(cards(device="cpu").bank)


def test_every_shipped_question_for_both_devices_was_proved_on_a_gpu_or_is_named() -> None:
    both = [one for one in read_shipped_bank().questions if one.task is not None and one.task.device == "both"]
    assert len(both) >= 15
    told = (ROOT / "docs" / "gpu.md").read_text()
    row = next(
        line for line in told.splitlines() if f"the {len(both)} questions with `device: both` | yes, each" in line
    )
    unproved = {one.id for one in both if lacks_gpu_proof(one.task)}
    named = set(re.findall("`([a-z0-9-]+)`", row))
    assert unproved == named, "prove them on a machine with a GPU, or name in docs/gpu.md those that were not"
    assert set(SUBJECTS.values()) <= {one.id for one in both}
