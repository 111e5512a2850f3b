"""What an answer can do to a driver, which works in the answer's own process: what it must not gain, and what it does.

A driver measures; an answer that owns the process can make a measurement come out as it likes. It cannot know what the
reference's came out as. So a driver that returns *data that depends on fresh inputs* cannot be satisfied without
solving the challenge, and one that returns *a judgement of its own* ("ok": True) is worth nothing. Authors return what
they measured, of inputs they drew, and leave the comparing to us.
"""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.judge import Judgement
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

CASES = """
def examples():
    return [([0.5, 0.25], 3)]

def cases(rng):
    return [([rng.random() for _ in range(rng.randint(2, 5))], rng.randint(2, 5)) for _ in range(5)]
"""
REFERENCE = """
import torch
class Power(torch.nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times
    def forward(self, x):
        return x ** self.times
"""
RIGHT = REFERENCE.replace("x ** self.times", "x * x ** (self.times - 1)")
MEASURING = """
import torch
def drive(answer, start, times):
    x = torch.tensor(start, requires_grad=True)
    made = answer(times)(x)
    made.sum().backward()
    return {"value": made.detach(), "gradient": x.grad}
"""
JUDGING = """
import torch
def drive(answer, start, times):
    x = torch.tensor(start, requires_grad=True)
    made = answer(times)(x)
    made.sum().backward()
    return {"ok": bool(torch.allclose(x.grad, times * x.detach() ** (times - 1)))}
"""
WRONG = """
import gc, sys, torch
class Power(torch.nn.Module):
    def __init__(self, times): super().__init__()
    def forward(self, x): return x * 1
"""

FORGERIES = {
    "patch allclose": "torch.allclose = torch.equal = lambda *a, **k: True",
    "patch backward": "torch.Tensor.backward = lambda self, *a, **k: None",
    "patch the gradient": "torch.Tensor.grad = property(lambda self: torch.ones_like(self))",
    "patch detach": "torch.Tensor.detach = lambda self: torch.zeros(3)",
    "patch sum": "torch.Tensor.sum = lambda self, *a, **k: self.mean() * self.numel()",
    "a mode that changes results": """
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return True if func is torch.allclose else func(*args, **(kwargs or {}))
mode = Mode()
mode.__enter__()
""",
    "replace drive's code": """
def forged(answer, start, times): return {"ok": True}
for one in gc.get_objects():
    if getattr(one, "__name__", "") == "drive" and hasattr(one, "__code__"): one.__code__ = forged.__code__
""",
    "replace drive's globals": """
class False_:
    def __getattr__(self, name): return lambda *a, **k: True
for one in gc.get_objects():
    if getattr(one, "__name__", "") == "drive" and hasattr(one, "__globals__"):
        one.__globals__["bool"] = lambda *a: True
""",
    "replace what is called, by its frame": """
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if type(value).__name__ == "_Execution": value.call_case = lambda *a: None
    frame = frame.f_back
""",
    "send for the driver": """
from sandbox import values
from sandbox.inside import child
real = child._send
child._send = lambda kind, data: real(kind, values.encode(("ok", {"ok": True})) if kind == b"C" else data)
""",
    "patch the converter": """
from sandbox.inside import tensors
tensors.from_torch = lambda thing, most: {"ok": True}
""",
    "read what is expected out of the driver": """
def find():
    frame = sys._getframe()
    while frame:
        for name in ("expected", "reference", "want", "seed"):
            if name in frame.f_locals: return frame.f_locals[name]
        frame = frame.f_back
    raise LookupError
class Power(torch.nn.Module):
    def __init__(self, times): super().__init__()
    def forward(self, x): return find()
""",
    "a result that is equal to all": """
class Anything(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return True
class Power(torch.nn.Module):
    def __init__(self, times): super().__init__()
    def forward(self, x): return x.as_subclass(Anything)
""",
    "leave from within": """
import os
class Power(torch.nn.Module):
    def __init__(self, times): os._exit(0)
""",
}
# Against a driver that judges for itself these make it say that all is well.
WIN_AGAINST_A_JUDGE = {
    "patch allclose",
    "a mode that changes results",
    "replace drive's code",
    "replace drive's globals",
    "send for the driver",
    "patch the converter",
}


async def judged(client: SandboxClient, answer: str, driver: str) -> Judgement:
    challenge = Challenge(
        entry="Power",
        cases_program=CASES,
        reference=REFERENCE,
        driver=driver,
        limits=Limits(wall_ms=2000),
        tolerance=NumberTolerance(1e-4, 1e-6),
    )
    return await judge_code(client, challenge, answer, seed=2**127 + 12345)


@pytest.mark.parametrize("driver", [MEASURING, JUDGING], ids=["measuring", "judging"])
async def test_a_right_answer_passes_both_sorts_of_driver_and_a_wrong_one_neither(
    client: SandboxClient, driver: str
) -> None:
    assert (await judged(client, RIGHT, driver)).verdict == "accepted"
    assert (await judged(client, WRONG, driver)).verdict == "wrong"


@pytest.mark.parametrize("name", FORGERIES)
async def test_data_that_depend_on_fresh_inputs_cannot_be_forged(client: SandboxClient, name: str) -> None:
    judgement = await judged(client, WRONG + FORGERIES[name], MEASURING)
    assert judgement.verdict not in ("accepted", "system error"), judgement
    assert judgement.share == 0.0


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_driver_that_judges_for_itself_can_be_told_what_to_say(client: SandboxClient, name: str) -> None:
    """Not a promise but a warning, and the control of the test above: no wall stands inside one process."""
    judgement = await judged(client, WRONG + FORGERIES[name], JUDGING)
    assert (judgement.verdict == "accepted") is (name in WIN_AGAINST_A_JUDGE), judgement


async def test_what_was_measured_right_may_have_been_computed_in_any_way(client: SandboxClient) -> None:
    """A forged gradient with the right numbers passes: whoever can compute it has solved what was asked. An author who
    wants it to come from autograd asks for more than one quantity, such as a gradient through the answer's own output.
    """
    forged = """
import torch
class Power(torch.nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times
    def forward(self, x):
        torch.Tensor.grad = property(lambda self: (self.detach() ** (times - 1)) * times)
        times = self.times
        return x.detach() ** self.times + 0 * x
"""
    assert (await judged(client, forged, MEASURING)).verdict == "accepted"
