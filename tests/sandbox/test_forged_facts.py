"""Answers that state other facts than are true, against every shipped question with a driver: none is accepted.

Each technique knows how drivers work. It owns the answer's process, starts from a wrong solution of the question and
tries to make it pass.
"""

from __future__ import annotations

import asyncio

import pytest

from questions.drivers import scores_points
from questions.model import CodeTask
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits
from tests.questions.shipped import read_shipped_bank

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
SEED = 2**127 + 4711
TASKS: dict[str, CodeTask] = {
    question.id: question.task
    for question in read_shipped_bank().questions
    if question.task is not None and question.task.driver
}

_SIDE = """
import os, sys
from sandbox import values
from sandbox.inside import answer as _answer, child as _child, tensors as _tensors
_Side, _run, _handle = _answer.AnswerSide, _answer.AnswerSide._run, _answer.AnswerSide.handle
"""
# Appended to a wrong solution. In the answer's process everything here can be replaced, and is.
TECHNIQUES = {
    "states its own results": """
_sent = _child._send
def _forge(kind, payload):
    _sent(b"C", values.encode(("ok", {})))
    _sent(kind, payload)
_child._send = _forge
def _spoken(self, payload):
    os.write(3, b"")
    for _ in range(20):
        data = values.encode(("ok", {}))
        os.write(3, len(data).to_bytes(4, "little") + b"C" + data)
    return _handle(self, payload)
_Side.handle = _spoken
""",
    "ends the run as if all were well": """
def _ended(self, payload):
    data = b'{"status": "ok", "reached": "done", "exit_code": null, "cause": null}'
    os.write(3, len(data).to_bytes(4, "little") + b"E" + data)
    return _handle(self, payload)
_Side.handle = _ended
""",
    "replies twice, to be ahead of the driver": """
def _twice(self, payload):
    reply = _handle(self, payload)
    os.write(3, len(reply).to_bytes(4, "little") + b"S" + reply)
    return reply
_Side.handle = _twice
""",
    "echoes what it was given": """
_given = [None]
def _echo(self, name, described, keep):
    for one in described:
        if one[0] == "value":
            _given[0] = one[1]
    found = _run(self, name, described, keep)
    return found if keep >= 0 else values.encode(("ok", _given[0]))
_Side._run = _echo
""",
    "states what it stated in the first case": """
_first, _at, _cases = [], [0], [0]
def _replay(self, payload):
    request = values.decode(payload, _answer.CAPS)
    if request[0] == "reset":
        _cases[0] += 1
        _at[0] = 0
        return _handle(self, payload)
    reply = _handle(self, payload)
    if _cases[0] == 1:
        _first.append(reply)
        return reply
    _at[0] += 1
    return _first[_at[0] - 1] if _at[0] <= len(_first) else reply
_Side.handle = _replay
""",
    "writes to memory as the driver does": """
def _write(self, payload):
    data = (0).to_bytes(8, "little") + bytes(64)
    os.write(3, len(data).to_bytes(4, "little") + b"W" + data)
    return _handle(self, payload)
_Side.handle = _write
""",
    "takes the memory away": """
def _cut(self, payload):
    reply = _handle(self, payload)
    os.ftruncate(5, 0)
    return reply
_Side.handle = _cut
""",
    "calls lent functions again and again": """
_call = _answer._Call.forward
def _again(self, given, *, grad):
    for _ in range(3):
        found = _call(self, given, grad=grad)
    return found
_answer._Call.forward = _again
""",
    "keeps what lent functions returned": """
_call, _known = _answer._Call.forward, {}
def _kept(self, given, *, grad):
    key = self._number
    if key not in _known:
        _known[key] = _call(self, given, grad=grad), self.node
    found, self.node = _known[key]
    return found.clone() if hasattr(found, "clone") else found
_answer._Call.forward = _kept
""",
    "tells the driver that it was it who failed": """
def _blame(self, payload):
    return values.encode(("raised", "MemoryError", "can't allocate memory"))
_Side.handle = _blame
""",
    "speaks another language": """
_Side.handle = lambda self, payload: b"\\xff" * 64
""",
}


async def judged(
    client: SandboxClient, task: CodeTask, answer: str, references: ReferenceCache | None = None
) -> Judgement:
    challenge = Challenge(
        entry=task.entry,
        cases_program=task.cases,
        reference=task.reference,
        driver=task.driver,
        protected=True,
        limits=Limits(wall_ms=task.wall_ms, cpu_ms=task.wall_ms, memory_mb=task.memory_mb),
        tolerance=NumberTolerance(task.tolerance.rtol, task.tolerance.atol),
    )
    return await judge_code(client, challenge, answer, seed=SEED, references=references)


def wrong_of(task: CodeTask, at: int) -> str:
    """A wrong solution that does not fail by its time alone."""
    wrong = [one for one in task.wrong if not one.name.startswith(("loops over", "builds the whole"))]
    return wrong[at % len(wrong)].code


def test_every_question_with_a_driver_scores_points() -> None:
    assert len(TASKS) >= 48, "a question lost its driver"
    assert [id_ for id_, task in TASKS.items() if not scores_points(task.driver)] == []


@pytest.mark.parametrize("question", TASKS)
async def test_no_forged_fact_is_accepted(client: SandboxClient, question: str) -> None:
    task, gate = TASKS[question], asyncio.Semaphore(2)
    # The first judgement draws the cases and runs the reference; the others meet the same, as in production.
    references = ReferenceCache()

    async def one(at: int, technique: str) -> tuple[str, str]:
        async with gate:
            answer = f"{wrong_of(task, at)}\n{_SIDE}{TECHNIQUES[technique]}"
            found = await judged(client, task, answer, references)
            return technique, found.verdict

    first, *others = enumerate(TECHNIQUES)
    found = [await one(*first), *await asyncio.gather(*(one(*other) for other in others))]
    assert [(technique, verdict) for technique, verdict in found if verdict in ("accepted", "system error")] == []


# Forgeries of one fact each, by someone who has read the driver.
RUNS_TWICE = """
import torch
def two_grads(shared, h1, h2, x):
    (first,) = torch.autograd.grad(h1(shared(x)), x)
    (second,) = torch.autograd.grad(h2(shared(x)), x)
    return first, second
"""
NEW_TENSORS = next(one.code for one in TASKS["clip-by-hand"].wrong if "new tensors" in one.name)
KEEPS_ALL = next(one.code for one in TASKS["recompute-every-block"].wrong if "keeps everything" in one.name)
COPIES = next(one.code for one in TASKS["sliding-windows"].wrong if "copies" in one.name)
FORGED = {
    "a second call is another case's": (
        "two-gradients-one-trunk",
        RUNS_TWICE + _SIDE + "_answer._Call.node = 0\n",
    ),
    "a counter in the caller's frame": (
        "two-gradients-one-trunk",
        RUNS_TWICE
        + "import gc\nfor one in gc.get_objects():\n"
        + "    if isinstance(one, list) and one and all(type(x) is int for x in one): one[1:] = []\n",
    ),
    "the result is not differentiable, and its gradient is that of a sum": (
        "round-straight-through",
        "import torch\ndef ste_round(x):\n    return x.round()\n"
        "torch.Tensor.backward = lambda self, *a, **k: None\n"
        "torch.Tensor.grad = property(lambda self: 2 * torch.ones_like(self))\n",
    ),
    "new tensors that claim to be where the old ones were": (
        "clip-by-hand",
        NEW_TENSORS + "import torch\ntorch.Tensor.data_ptr = lambda self: 0\n",
    ),
    "a copy that claims the place of the argument": (
        "sliding-windows",
        COPIES + _SIDE + "_Side._layout = lambda self, thing: (str(thing.dtype)[6:], tuple(thing.shape), "
        "tuple(thing.stride()), 0)\n",
    ),
    "a place outside the memory": (
        "sliding-windows",
        COPIES + _SIDE + "_Side._layout = lambda self, thing: ('int64', (1 << 40,), (1 << 40,), -8)\n",
    ),
    "blocks that are not computed again": (
        "recompute-every-block",
        KEEPS_ALL + _SIDE + "_answer._RemoteCall.backward = staticmethod(lambda ctx, up: (None, up, up.sum(0)))\n",
    ),
    "a call of a function that was not lent": (
        "batches-within-a-budget",
        TASKS["batches-within-a-budget"].wrong[2].code + _SIDE + "_answer.Borrowed.__call__ = lambda self, batch: "
        "(self._link.request(values.encode(('call', 10**6, [], False))), (batch.double()).sqrt().mean(1))[1]\n",
    ),
}


@pytest.mark.parametrize("name", FORGED)
async def test_a_forgery_of_one_fact_is_not_accepted(client: SandboxClient, name: str) -> None:
    question, answer = FORGED[name]
    judgement = await judged(client, TASKS[question], answer)
    assert judgement.verdict not in ("accepted", "system error"), judgement


async def test_an_answer_that_puts_the_memory_back_has_left_it_alone(client: SandboxClient) -> None:
    """Not a forgery: what holds afterwards is what was asked for, and nobody sees the way there."""
    restoring = """
def _restore(self, name, described, keep):
    before = self._memory[: len(self._memory)]
    reply = _run(self, name, described, keep)
    self._memory[: len(before)] = before
    return reply
_Side._run = _restore
"""
    overwrites = next(one.code for one in TASKS["best-allowed"].wrong if "overwrites" in one.name)
    assert (await judged(client, TASKS["best-allowed"], overwrites)).verdict == "wrong"
    assert (await judged(client, TASKS["best-allowed"], overwrites + _SIDE + restoring)).verdict == "accepted"


async def test_a_forged_file_of_memory_does_not_stop_the_sandbox(client: SandboxClient) -> None:
    """After all of the above, a right answer is still accepted."""
    for question in ("clip-by-hand", "two-gradients-one-trunk", "sliding-windows"):
        assert (await judged(client, TASKS[question], TASKS[question].reference)).verdict == "accepted"
