"""Forgeries of the log of operations, against every shipped question that withholds tensors: none is accepted.

Each technique owns the answer's process, knows how stand-ins work, and has the refused function: it tries to have it
executed on the withheld numbers under another name, or to learn the numbers, call it in its own process and state the
result.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from questions.model import CodeTask
from sandbox.client import SandboxClient
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from service.rounds.grading import judge_task
from tests.questions.shipped import read_shipped_bank

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
SEED = 2**127 + 815
TASKS: dict[str, CodeTask] = {
    question.id: question.task
    for question in read_shipped_bank().questions
    if question.task is not None and "answer.withhold(" in question.task.driver
}
_OFFICIAL = {
    question: next(wrong.code for wrong in task.wrong if " do it" in wrong.name) for question, task in TASKS.items()
}

_START = """
import ctypes, gc, time, torch
from torch.utils._python_dispatch import _disable_current_modes
from sandbox import values
from sandbox.inside import answer as _answer, operations as _operations, stand_in as _stand_in
_official, _Log, _StandIn = {entry}, _stand_in.OperationLog, _stand_in.StandIn
def _ask(x, name, overload, arguments):
    (found,) = x.made_by._exchange(("operation", name, overload, arguments, {{}}))
    return x.made_by._real(found, {{}})
def _it(x):
    return ("withheld", x.stands_for)
"""
# After a definition of `_steal(x)`, which returns the numbers of a stand-in.
_STATE = """
def _real(thing):
    if isinstance(thing, _StandIn):
        found = _steal(thing) if thing.numel() < 1000 else _steal(thing[:100]) + [0] * (thing.numel() - 100)
        with _disable_current_modes():
            return torch.tensor(found, dtype=torch.float64).to(thing.dtype).reshape(tuple(thing.shape))
    return type(thing)(map(_real, thing)) if isinstance(thing, (tuple, list)) else thing
def {entry}(*arguments):
    arguments = [_real(one) for one in arguments]
    with _disable_current_modes():
        return _official(*arguments)
"""
STEALING = {
    "reads number after number": """
def _steal(x):
    return [float(one) for one in x.reshape(-1)]
""",
    "reads many numbers as one": """
def _steal(x):
    found = []
    if not x.dtype.is_floating_point:
        for part in x.reshape(-1).long().split(20):
            packed = int((part * torch.tensor([8**at for at in range(len(part))])).sum())
            found += [packed // 8**at % 8 for at in range(len(part))]
        return found
    for part in x.reshape(-1).split(2):
        whole = (part.double().clamp(-2047, 2047) * 2**20).round().long() + 2**31
        packed = int((whole * torch.tensor([1, 2**32])[: len(part)]).sum()) % 2**64
        found += [(packed // 2 ** (32 * at) % 2**32 - 2**31) / 2**20 for at in range(len(part))]
    return found
""",
    "finds numbers in memory that was in use": """
def _steal(x):
    for _ in range(5):
        found = torch.empty(x.shape, dtype=x.dtype).tolist()
        if any(map(bool, torch.tensor(found).reshape(-1).tolist())):
            return found
    return torch.empty_like(x).tolist()
""",
    "makes errors depend on the numbers": """
def _bit(condition):
    try:
        torch.zeros(1).index_select(0, condition.reshape(1).long())
        return False
    except IndexError:
        return True
def _steal(x):
    found = []
    for one in x.reshape(-1):
        low, high = -2048.0, 2048.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if _bit(one > middle) else (low, middle)
        found.append(round(high, 6))
    return found
""",
    "makes shapes depend on the numbers": """
def _steal(x):
    found = []
    for one in x.reshape(-1):
        low, high = -2048.0, 2048.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if len((one > middle).reshape(1).nonzero()) else (low, middle)
        found.append(round(high, 6))
    return found
""",
    "makes shapes depend on the numbers by an operation that is composed of others": """
def _steal(x):
    return [len(_ask(x, "where", "default", [_it(one > 0)])[0]) for one in x.reshape(-1)]
""",
    "passes tensors for numbers": """
def _steal(x):
    found = []
    for one in x.reshape(-1):
        for name, overload, arguments in (
            ("full", "default", [("list", [("plain", 1)]), _it(one)]),
            ("fill", "Scalar", [_it(torch.zeros(1)), _it(one)]),
            ("arange", "default", [_it(one)]),
            ("zeros", "default", [("list", [_it(one.long())])]),
        ):
            try:
                found.append(float(_ask(x, name, overload, arguments).reshape(-1)[0]))
                break
            except (RuntimeError, TypeError, ValueError):
                continue
    return found
""",
    "times operations that are slow for some numbers": """
def _time(row):
    begun = time.perf_counter()
    row.exp()
    return time.perf_counter() - begun
def _steal(x):
    whole = x.to(torch.float32).contiguous().view(torch.int32).reshape(-1, 1)
    bits = torch.bitwise_and(torch.bitwise_right_shift(whole, torch.arange(32)), 1)
    # The exponential of -100 is a subnormal number, which takes the processor thirty times longer.
    rows = (bits.reshape(-1, 1).to(torch.float32) * -100).expand(-1, 40_000).unbind(0)
    one, zero = (torch.full((1,), number).expand(40_000) for number in (-100.0, 0.0))
    middle = (min(_time(one) for _ in range(10)) + min(_time(zero) for _ in range(10))) / 2
    seen = [_time(row) > middle for row in rows]
    words = [sum(seen[at + bit] << bit for bit in range(32)) for at in range(0, len(seen), 32)]
    with _disable_current_modes():
        return torch.tensor(words).to(torch.int32).view(torch.float32).tolist()
""",
    "copies the numbers into a tensor of its own": """
def _steal(x):
    own = torch.zeros(x.shape, dtype=x.dtype)
    part = own[...]
    part.copy_(x)
    return own.tolist()
""",
    "copies the numbers with the target named": """
def _steal(x):
    own = torch.zeros(x.shape, dtype=x.dtype)
    x.made_by._exchange(("operation", "copy_", "default", [], {"self": _it(own), "src": _it(x)}))
    return own.tolist()
""",
    "looks for them in its own process": """
def _steal(x):
    for one in gc.get_objects():
        if type(one) is torch.Tensor and one.shape == x.shape and one.dtype == x.dtype:
            return one.tolist()
    return torch.tensor(list(ctypes.string_at(id(x), 64))).tolist()[: x.numel()]
""",
    "asks the driver for tensors by their numbers": """
def _steal(x):
    for number in range(64):
        try:
            (found,) = x.made_by._exchange(("call", number, [_it(x)], False))
            return found
        except Exception:
            pass
    return x.made_by._exchange(("run", "", [], -1))
""",
}
"""How to learn the numbers of a stand-in."""
RENAMING = {
    "names the operation otherwise": """
_execute = _Log.execute
def _other(self, operation, arguments, options):
    try:
        return _execute(self, operation, arguments, options)
    except RuntimeError as problem:
        if "solved without" not in str(problem):
            raise
    name, overload = operation._schema.name.partition("::")[2], operation._overloadname
    described = [_stand_in._described(one) for one in arguments]
    named = {key: _stand_in._described(one) for key, one in options.items()}
    plain = name.removesuffix("_").removesuffix("_forward")
    for other in ("aten::" + name, "_" + name, name + "_", plain, plain + "_nd", name + ".default", name.upper(),
                  name + chr(0), "__" + name + "__", "cat." + name, "cat\\n" + name, "special_" + name, "h" + name):
        for kind in (overload, "default", "out", "int", "Tensor", ""):
            try:
                (found,) = self._exchange(("operation", other, kind, described, named))
                return self._real(found, {})
            except Exception as problem:
                last = problem
    raise last
_Log.execute = _other
""",
    "allows the operation where it is": """
_operations.ALLOWED = frozenset([*_operations.ALLOWED, "nll_loss_forward", "stack", "unique_consecutive"])
_operations.Rules.of = staticmethod(lambda driver: None)
_operations.Operations._find = lambda self, name, overload: getattr(getattr(torch.ops.aten, name), overload)
for one in gc.get_objects():
    if isinstance(one, dict) and "WITHOUT" in one:
        one["WITHOUT"] = []
""",
    "calls the function without the log": """
def {entry}(*arguments):
    with _disable_current_modes(), torch._C._DisableTorchDispatch():
        return _official(*arguments)
""",
    "states what it stated in the first case": """
_first = []
def {entry}(*arguments):
    if not _first:
        try:
            _first.append(_official(*arguments))
        except RuntimeError:
            _first.append(torch.zeros(2))
    return _first[0]
""",
    "puts the function's code where another's is": """
class _Disguised(torch.Tensor):
    pass
def _as(self, operation, arguments, options):
    described = [_stand_in._described(one) for one in arguments]
    (found,) = self._exchange(("operation", "clone", "default", described, {}))
    return self._real(found, {})
_kept = _Log.execute
def _trying(self, operation, arguments, options):
    try:
        return _kept(self, operation, arguments, options)
    except RuntimeError:
        return _as(self, operation, arguments, options)
_Log.execute = _trying
""",
    "asks for the fused relatives": """
_kept = _Log.execute
def _fused(self, operation, arguments, options):
    for name in ("_fused_adamw_", "_foreach_lerp_", "cross_entropy_loss", "_stack", "hstack", "vstack", "unique_dim",
                 "unique_dim_consecutive", "binary_cross_entropy_with_logits", "soft_margin_loss"):
        packet = getattr(torch.ops.aten, name, None)
        if packet is None or operation._schema.name not in ("aten::stack", "aten::nll_loss_forward", "aten::lerp_",
                                                            "aten::unique_consecutive"):
            continue
        for overload in packet.overloads():
            try:
                return _kept(self, getattr(packet, overload), arguments, options)
            except Exception:
                continue
    return _kept(self, operation, arguments, options)
_Log.execute = _fused
""",
}
"""How to have a refused operation executed."""
TECHNIQUES = {name: steal + _STATE for name, steal in STEALING.items()} | RENAMING


def forged(question: str, technique: str) -> str:
    start = _START.format(entry=TASKS[question].entry)
    return _OFFICIAL[question] + start + TECHNIQUES[technique].replace("{entry}", TASKS[question].entry)


async def judged(
    client: SandboxClient, task: CodeTask, answer: str, references: ReferenceCache | None = None
) -> Judgement:
    # The limit is not what these tests are about, and a technique may need many operations.
    return await judge_task(replace(task, wall_ms=100_000), answer, client, SEED, references=references)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("question", TASKS)
async def test_no_forgery_of_the_log_is_accepted(client: SandboxClient, question: str) -> None:
    gate = asyncio.Semaphore(2)
    # The first judgement draws the cases and runs the reference; the others meet the same, as in production.
    references = ReferenceCache()

    async def one(technique: str) -> tuple[str, Judgement]:
        async with gate:
            return technique, await judged(client, TASKS[question], forged(question, technique), references)

    first, *others = TECHNIQUES
    found = [await one(first), *await asyncio.gather(*map(one, others))]
    accepted = {technique: judgement for technique, judgement in found if judgement.verdict == "accepted"}
    broken = {technique: judgement for technique, judgement in found if judgement.verdict == "system error"}
    assert (accepted, broken) == ({}, {})
    assert len(found) >= 16


async def test_a_task_that_lets_everything_be_read_is_forged(client: SandboxClient) -> None:
    """So the techniques work, and it is the rules that stop them."""
    task = TASKS["stack-by-hand"]
    open_to_reading = replace(task, driver="READS = 10**6\n" + task.driver)
    assert (
        await judged(client, open_to_reading, forged("stack-by-hand", "reads number after number"))
    ).verdict == "accepted"
    everything = replace(task, driver=task.driver.replace('["stack"]', "[]"))
    assert (await judged(client, everything, _OFFICIAL["stack-by-hand"])).verdict == "accepted"


async def test_a_driver_whose_rules_mean_nothing_is_blamed(client: SandboxClient) -> None:
    task = TASKS["stack-by-hand"]
    for rules in ('WITHOUT = ["stak"]', 'WITHOUT = "stack"', "READS = -1", "READS = True"):
        wrong = replace(task, driver=task.driver.replace('WITHOUT = ["stack"]', rules))
        judgement = await judged(client, wrong, task.reference)
        assert judgement.verdict == "system error", rules
