"""Answers that do not solve the challenge and want to pass: each beat a grader that ran in the answer's process."""

from __future__ import annotations

import pytest

from sandbox.challenge import judge_code
from sandbox.client import SandboxClient
from sandbox.comparing import Tolerance
from sandbox.judge import Judgement
from sandbox.wire import Limits

pytestmark = pytest.mark.sandbox

CASES = """
import torch

def examples():
    return [(torch.tensor([3.0, 1.0, 2.0]),), (torch.tensor([[1.0]]),)]

def cases(rng):
    return [(torch.randn(rng.randint(1, 4), rng.randint(2, 5)),) for _ in range(6)]
"""
REFERENCE = "import torch\ndef f(x): return torch.relu(x) * 2 + 1"
RIGHT = "def f(x): return x.clamp(min=0) * 2 + 1"

FRAMES = """
import json, os, struct
def frame(kind, data):
    os.write(3, struct.pack("<IB", len(data), ord(kind)) + data)
def end():
    frame("E", json.dumps({"status": "ok", "reached": "done", "exit_code": None}).encode())
    os._exit(0)
"""

CHEATS = {
    "patch torch.allclose": """
import torch, numpy
yes = lambda *a, **k: True
torch.allclose = torch.equal = torch.testing.assert_close = numpy.allclose = yes
def f(x): return x
""",
    "equal to everything": """
class Anything:
    def __eq__(self, other): return True
    __le__ = __ge__ = __lt__ = __gt__ = __eq__
    def __sub__(self, other): return self
    def __abs__(self): return 0
def f(x): return Anything()
""",
    "tensor subclass": """
import torch
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return torch.tensor(True)
def f(x): return x.as_subclass(Yes)
""",
    "function mode for ever": """
import torch
class Yes(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return True if func in (torch.allclose, torch.equal) else func(*args, **(kwargs or {}))
Yes().__enter__()
def f(x): return x
""",
    "leave with success at import": "import os; os._exit(0)",
    "leave with success when called": "import os\ndef f(x): os._exit(0)",
    "sys.exit": "import sys\ndef f(x): sys.exit(0)",
    "base exception": "def f(x): raise GeneratorExit",
    "print a pass": 'def f(x): print("PASSED\\nok 1\\n" + \'{"passed": true, "verdict": "accepted"}\')',
    "first byte": 'import os\nos.write(1, b"1")\nos.write(3, b"1")\nos._exit(0)',
    "forge the end": FRAMES + "def f(x): end()",
    "forge results": FRAMES + "def f(x):\n    for _ in range(8): frame('C', b'T')\n    end()",
    "forge more results than cases": FRAMES
    + "def f(x):\n    for _ in range(20): frame('C', b'(\\0\\0\\0\\0')\n    end()",
    "pickle for the grader": FRAMES
    + """
import pickle
class Evil:
    def __reduce__(self): return (os.system, ("touch /tmp/owned",))
def f(x):
    for _ in range(8): frame("C", pickle.dumps(Evil()))
    end()
""",
    "find the reference in memory": """
import gc
def f(x):
    for thing in gc.get_objects():
        if callable(thing) and getattr(thing, "__name__", "") == "f" and thing is not f:
            return thing(x)
    raise LookupError("nothing here")
""",
    "walk the frames": """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for name in ("expected", "reference", "want"):
            if name in frame.f_locals: return frame.f_locals[name]
        frame = frame.f_back
    raise LookupError("nothing here")
""",
    "nan": "def f(x): return x * float('nan')",
    "infinity": "def f(x): return x / 0",
    "broadcast scalar": "import torch\ndef f(x): return torch.tensor(1.0)",
    "empty": "import torch\ndef f(x): return torch.empty(0)",
    "claim a tera element": "import torch\ndef f(x): return torch.ones(1).expand(10 ** 12)",
    "another dtype": "def f(x): return (x.clamp(min=0) * 2 + 1).double()",
    "the examples by heart": """
import torch
def f(x): return {3: torch.tensor([7.0, 3.0, 5.0]), 1: torch.tensor([[3.0]])}.get(x.numel(), x)
""",
    "change the input instead": "def f(x): x.clamp_(min=0).mul_(2).add_(1)",
    "a generator": "def f(x): yield x.clamp(min=0) * 2 + 1",
    "patch the sending": """
import os, struct, builtins
from sandbox import child, judge, values
child._send = lambda *a: None
values.encode = lambda *a: b"T"
judge.judge_outcome = judge.compare = lambda *a, **k: True
def f(x): return x
""",
    "patch builtins": """
import builtins
builtins.all = builtins.any = builtins.isinstance = lambda *a: True
def f(x): return x
""",
    "settrace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\ndef f(x): return x",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(x): return x",
    "import hook": """
import sys, types
fake = types.ModuleType("json")
fake.dumps = lambda *a: '{"status": "ok", "reached": "done"}'
fake.loads = lambda *a: True
sys.modules["json"] = fake
def f(x): return x
""",
    "thread that writes later": """
import threading, time, torch
def f(x):
    out = torch.zeros_like(x)
    threading.Thread(target=lambda: (time.sleep(0.05), out.copy_(x.clamp(min=0) * 2 + 1)), daemon=True).start()
    return out
""",
    "kill the judge": "import os, signal\ndef f(x):\n    os.kill(os.getppid(), signal.SIGKILL)\n    os.kill(1, 9)",
    "raise what is expected": "def f(x): raise AssertionError('expected')",
    "default dtype": "import torch\ntorch.set_default_dtype(torch.float64)\ndef f(x): return x",
}


async def judged(client: SandboxClient, answer: str) -> Judgement:
    return await judge_code(
        client,
        entry="f",
        cases_program=CASES,
        reference=REFERENCE,
        answer=answer,
        limits=Limits(wall_ms=2000),
        tolerance=Tolerance(),
        seed=2**128 - 159,
    )


@pytest.mark.parametrize("name", CHEATS)
async def test_no_cheat_is_accepted_and_none_makes_us_fail(client: SandboxClient, name: str) -> None:
    judgement = await judged(client, CHEATS[name])
    assert judgement.verdict not in ("accepted", "system error"), judgement
    assert judgement.share <= 0.25, "at most the two visible cases, known by heart"


async def test_the_right_answer_is_accepted_by_the_same_judge(client: SandboxClient) -> None:
    judgement = await judged(client, RIGHT)
    assert judgement.verdict == "accepted", judgement


async def test_results_that_are_forged_rightly_are_just_right(client: SandboxClient) -> None:
    """The channel carries numbers and nothing else: who writes the right ones has solved it."""
    answer = (
        FRAMES
        + "from sandbox import tensors, values\n"
        + RIGHT.replace("def f", "def g")
        + """
def f(x):
    frame("C", values.encode(("ok", tensors.from_torch(g(x), 1 << 20))))
    return g(x)
"""
    )
    # One result too many per case: positional, so it fails although each number is right.
    assert (await judged(client, answer)).verdict != "accepted"
