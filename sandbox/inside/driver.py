"""What a question's driver works with: `answer`, the member's program in another process.

This is the driver's half. It never executes the answer's code and receives plain data only. Counters, hidden weights
and values that are not sent yet exist here alone.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from sandbox import values
from sandbox.framing import MEMORY_BYTES
from sandbox.inside import tensors
from sandbox.inside.links import Link, Memory
from sandbox.inside.operations import Operations, Rules, Withheld
from sandbox.values import ITEM_BYTES, Caps, Value

CAPS = Caps(total=64 * 1024 * 1024, items=10**6)
_ALIGNMENT = 64
_KNOWN: dict[str, type[Exception]] = {
    one.__name__: one
    for one in (
        ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError, NotImplementedError,
        RuntimeError, TypeError, ValueError, ZeroDivisionError,
    )
}  # fmt: skip


def builtin_exception(name: str) -> type[Exception]:
    """Returns a builtin exception by its name; RuntimeError for others."""
    return _KNOWN.get(name, RuntimeError)


class AnswerProblem(Exception):
    """What was raised in the answer's process, or a result that cannot be sent. A driver may catch it as, for example,
    a KeyError, if that was raised.
    """

    kind = "raised"
    name = "Exception"
    text = ""

    @staticmethod
    def make(kind: str, name: str, text: str) -> AnswerProblem:
        """Returns the exception that stands for the one of that type name."""
        bases = (AnswerProblem, _KNOWN[name]) if name in _KNOWN else (AnswerProblem,)
        problem: AnswerProblem = type(name, bases, {})(text)
        problem.kind, problem.name, problem.text = kind, name, text
        return problem


@dataclass(frozen=True, slots=True)
class Kept:
    """An object that was left in the answer's process."""

    number: int


@dataclass(frozen=True, slots=True)
class Lent:
    """A function of the driver that the answer's process can call."""

    number: int


@dataclass(frozen=True, slots=True)
class _LentFunction:
    function: Callable[..., Any]
    on_backward: Callable[[], object] | None


@dataclass(frozen=True, slots=True)
class _Node:
    """A call of a lent function that can be differentiated."""

    lent: _LentFunction
    inputs: list[torch.Tensor]
    output: torch.Tensor


class Shared:
    """A tensor in memory that both the answer's process and the supervisor see. Pass it to have the tensor there."""

    def __init__(self, memory: Memory, offset: int, like: torch.Tensor) -> None:
        self._memory = memory
        self.offset = offset
        self.dtype = str(like.dtype).removeprefix("torch.")
        self.shape = tuple(like.shape)

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * ITEM_BYTES[self.dtype]

    def write(self, tensor: torch.Tensor) -> None:
        """Writes other numbers of the same kind and shape into the memory."""
        encoded = tensors.from_torch(tensor.detach(), CAPS.total)
        if not isinstance(encoded, values.Tensor) or (encoded.dtype, encoded.shape) != (self.dtype, self.shape):
            raise TypeError(f"not a tensor of {self.dtype} and shape {self.shape}")
        if encoded.data:
            self._memory.write(self.offset, encoded.data)

    def now(self) -> torch.Tensor:
        """Returns what the memory holds now, read from outside the answer's process."""
        found: torch.Tensor = tensors.to_torch(
            values.Tensor(self.dtype, self.shape, self._memory.read(self.offset, self.bytes))
        )
        return found


class Answer:
    """The answer, as a driver sees it.

    Calling it calls the member's function with plain data and returns plain data. Functions that are defined at the top
    level of the driver can be executed in the answer's process with `run` and `keep`; they prepare objects, call the
    answer and read what it did. What they return is a statement of that process.
    """

    def __init__(self, link: Link, memory: Memory, functions: dict[str, Any]) -> None:
        self._link = link
        self._memory = memory
        self._functions = functions
        self._used = 0
        self._kept = 0
        self._lent: list[_LentFunction] = []
        self._nodes: list[_Node] = []
        self._operations = Operations(Rules.of(functions))

    def reset(self) -> None:
        """Forgets the objects of the last case."""
        self._used = self._kept = 0
        self._lent.clear()
        self._nodes.clear()
        self._operations.reset()
        self._exchange(("reset",))

    def __call__(self, *arguments: Any) -> Any:
        """Calls the answer and returns its result."""
        return self._run("", arguments, -1)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Executes a function of the driver in the answer's process and returns its result, which must be plain."""
        return self._run(self._name(function), arguments, -1)

    def keep(self, function: Callable[..., Any], *arguments: Any) -> Kept:
        """Like `run`, but leaves the result there, so that it can be an argument later."""
        number = self._kept
        self._kept += 1
        self._run(self._name(function), arguments, number)
        return Kept(number)

    def share(self, tensor: torch.Tensor) -> Shared:
        """Copies a tensor into the shared memory. As an argument it becomes a tensor in that memory."""
        shared = Shared(self._memory, self._used, tensor)
        end = shared.offset + shared.bytes
        if end > MEMORY_BYTES:
            raise MemoryError(f"more than {MEMORY_BYTES} bytes are shared")
        self._used = -(-end // _ALIGNMENT) * _ALIGNMENT
        shared.write(tensor)
        return shared

    def withhold(self, tensor: torch.Tensor) -> Withheld:
        """Keeps a tensor in this process. As an argument it becomes a stand-in without numbers: operations on it are
        executed here, those that `WITHOUT` does not name. The answer may read `READS` numbers in a case.
        """
        return self._operations.withhold(tensor)

    def lend(self, function: Callable[..., Any], on_backward: Callable[[], object] | None = None) -> Lent:
        """Lends a function. Its calls from the answer's process are executed here, with tensors that can be
        differentiated once; `on_backward` is called when a gradient passes through one of these calls.
        """
        self._lent.append(_LentFunction(function, on_backward))
        return Lent(len(self._lent) - 1)

    def view(self, kept: Kept, shared: Shared) -> torch.Tensor | None:
        """Returns a kept tensor or array as it is seen in shared memory from outside, or None if it is not there."""
        match self._exchange(("layout", kept.number)):
            case ("ok", (str(dtype), tuple(shape), tuple(strides), int(offset))) if dtype in ITEM_BYTES:
                start = offset - shared.offset
                data = self._memory.read(shared.offset, shared.bytes)
                item = ITEM_BYTES[dtype]
                if start < 0 or start % item or not shared.bytes or shared.bytes % item:
                    return None
                flat = tensors.to_torch(values.Tensor(dtype, (shared.bytes // item,), data))
                try:
                    found: torch.Tensor = flat.as_strided(shape, strides, start // item).clone()
                except (RuntimeError, TypeError):
                    return None
                return found
        return None

    def handle(self, payload: bytes) -> bytes:
        """Handles a request of the answer's process: a call of a lent function, or a gradient through one."""
        try:
            match values.decode(payload, CAPS):
                case ("call", int(number), list(arguments), bool(grad)):
                    return values.encode(self._call_lent(number, arguments, grad), CAPS)
                case ("operation", str(name), str(overload), list(arguments), dict(options)):
                    return values.encode(("ok", self._operations.execute(name, overload, arguments, options)), CAPS)
                case ("vjp", int(number), upstream):
                    return values.encode(("ok", self._differentiate(number, upstream)), CAPS)
            raise ValueError("an unknown request")
        except Exception as problem:
            return values.encode(("raised", type(problem).__name__[:200], str(problem)[:2000]))

    def _name(self, function: Callable[..., Any]) -> str:
        name = getattr(function, "__name__", "")
        if self._functions.get(name) is not function:
            raise TypeError(f"{name or function} is not defined at the top level of the driver")
        return name

    def _run(self, name: str, arguments: tuple[Any, ...], keep: int) -> Any:
        described = [self._describe(one) for one in arguments]
        match self._exchange(("run", name, described, keep)):
            case ("ok", value):
                return tensors.to_torch(value)
            case ("computed", result):
                return self._computed(result)
            case (("raised" | "unsupported") as kind, str(problem), str(text)):
                raise AnswerProblem.make(kind, problem, text)
        raise AnswerProblem.make("raised", "ConnectionError", "the answer's process sent an unknown reply")

    def _computed(self, result: Value) -> Any:
        try:
            self._operations.finish()
        except Exception as problem:
            raise AnswerProblem.make("raised", type(problem).__name__, str(problem)) from None
        return self._operations.result(result)

    def _exchange(self, request: Value) -> Value:
        reply = self._link.request(values.encode(request, CAPS))
        try:
            return values.decode(reply, CAPS)
        except ValueError as problem:
            raise AnswerProblem.make("raised", "ConnectionError", str(problem)) from None

    def _describe(self, thing: Any) -> Value:
        """Returns an argument as data: what it is, and its content."""
        match thing:
            case Answer():
                return ("answer",)
            case Kept():
                return ("kept", thing.number)
            case Shared():
                return ("shared", thing.offset, thing.dtype, thing.shape)
            case Lent():
                return ("lent", thing.number)
            case Withheld():
                return self._operations.describe(thing.number)
            case types.FunctionType():
                return ("function", self._name(thing))
            case tuple() | list():
                kind = "tuple" if isinstance(thing, tuple) else "list"
                return (kind, [self._describe(one) for one in thing])
            case dict():
                return ("dict", {key: self._describe(one) for key, one in thing.items()})
        return ("value", tensors.from_torch(thing, CAPS.total))

    def _call_lent(self, number: int, arguments: list[Value], grad: bool) -> Value:
        lent = self._lent[number]
        real = [tensors.to_torch(one) for one in arguments]
        inputs = [one for one in real if isinstance(one, torch.Tensor)]
        with torch.set_grad_enabled(grad):
            if grad:
                for one in inputs:
                    one.requires_grad_(one.is_floating_point())
            else:
                real = [one.detach() if isinstance(one, torch.Tensor) else one for one in real]
            output = lent.function(*real)
        node = -1
        if isinstance(output, torch.Tensor) and output.requires_grad:
            node = len(self._nodes)
            self._nodes.append(_Node(lent, inputs, output))
        return ("ok", tensors.from_torch(output, CAPS.total), node)

    def _differentiate(self, number: int, upstream: Value) -> Value:
        node = self._nodes[number]
        if node.lent.on_backward is not None:
            node.lent.on_backward()
        wanted = [one for one in node.inputs if one.requires_grad]
        grads = iter(
            torch.autograd.grad(node.output, wanted, tensors.to_torch(upstream), retain_graph=True, allow_unused=True)
        )
        return [tensors.from_torch(next(grads), CAPS.total) if one.requires_grad else None for one in node.inputs]
