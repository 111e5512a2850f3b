"""The answer's half of a judged run with a driver: executes what the driver asks for, in the process of the answer.

The answer may overwrite everything here. It can then state other data than it computed; it cannot change what the
driver counts, nor what the supervisor reads from the shared memory.
"""

from __future__ import annotations

import contextlib
import mmap
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from sandbox import values
from sandbox.framing import MEMORY_BYTES
from sandbox.inside import tensors
from sandbox.inside.driver import CAPS, Answer, AnswerProblem, builtin_exception
from sandbox.inside.links import Handler, Link, Loopback, OwnMemory
from sandbox.inside.stand_in import OperationLog, StandIn, result_of, reworded
from sandbox.values import Value

Report = Callable[[str, BaseException], tuple[str, str, str]]
"""Returns kind, type name and message of an exception, or ends the run if it shows an exceeded limit."""


class AnswerSide:
    """Handles the driver's requests."""

    def __init__(
        self, link: Link, memory: mmap.mmap, entry: Callable[..., Any], functions: dict[str, Any], report: Report
    ) -> None:
        self._link = link
        self._memory = memory
        self._address = _address_of(memory)
        self._entry = entry
        self._functions = functions
        self._report = report
        self._kept: dict[int, Any] = {}
        self._tensors: dict[tuple[Any, ...], torch.Tensor] = {}
        """Tensors in the shared memory by their place: the same argument is the same object."""
        self._stand_ins: dict[int, StandIn] = {}
        self._log = OperationLog(self._exchange)

    def handle(self, payload: bytes) -> bytes:
        """Handles a request."""
        match values.decode(payload, CAPS):
            case ("reset",):
                self._kept.clear()
                self._tensors.clear()
                self._stand_ins.clear()
                return values.encode(("ok", None))
            case ("layout", int(number)):
                return values.encode(("ok", self._layout(self._kept[number])))
            case ("run", str(name), list(described), int(keep)):
                return self._run(name, described, keep)
        raise ValueError("an unknown request")

    def _run(self, name: str, described: list[Value], keep: int) -> bytes:
        logged: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        try:
            arguments = [self._real(one) for one in described]
            if self._stand_ins:
                arguments, logged = self._log.uploaded(arguments), self._log
            with logged:
                result = (self._functions[name] if name else self._entry)(*arguments)
        except BaseException as problem:
            return values.encode(self._report("raised", reworded(problem) if self._stand_ins else problem))
        if keep >= 0:
            self._kept[keep] = result
            return values.encode(("ok", None))
        try:
            if self._stand_ins:
                return values.encode(("computed", result_of(result)), CAPS)
            return values.encode(("ok", tensors.from_torch(result, CAPS.total)), CAPS)
        except BaseException as problem:
            return values.encode(self._report("unsupported", problem))

    def _exchange(self, request: Value) -> tuple[Any, ...]:
        match values.decode(self._link.request(values.encode(request, CAPS)), CAPS):
            case ("ok", *results):
                return tuple(results)
            case ("raised", str(name), str(text)):
                raise builtin_exception(name)(text)
        raise ValueError("an unknown reply")

    def _real(self, described: Value) -> Any:
        match described:
            case ("value", value):
                return tensors.to_torch(value)
            case ("answer",):
                return self._entry
            case ("kept", int(number)):
                return self._kept[number]
            case ("lent", int(number)):
                return Borrowed(self._link, number)
            case ("function", str(name)):
                return self._functions[name]
            case ("withheld", int(number), *rest):
                if number not in self._stand_ins:
                    self._stand_ins[number] = StandIn.of(self._log, (number, *rest))
                return self._stand_ins[number]
            case ("shared", int(offset), str(dtype), tuple(shape)):
                place = (offset, dtype, shape)
                if place not in self._tensors:
                    self._tensors[place] = self._shared(offset, getattr(torch, dtype), shape)
                return self._tensors[place]
            case ("tuple", list(items)):
                return tuple(self._real(one) for one in items)
            case ("list", list(items)):
                return [self._real(one) for one in items]
            case ("dict", dict(items)):
                return {key: self._real(one) for key, one in items.items()}
        raise ValueError("an unknown argument")

    def _shared(self, offset: int, dtype: torch.dtype, shape: tuple[Any, ...]) -> torch.Tensor:
        count = int(np.prod(shape, dtype=int))
        if not count:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self._memory, dtype=dtype, count=count, offset=offset).reshape(shape)

    def _layout(self, thing: Any) -> Value:
        """Returns dtype, shape, strides and place of a tensor or array in the shared memory, or None."""
        if isinstance(thing, torch.Tensor):
            name, shape, strides = str(thing.dtype).removeprefix("torch."), tuple(thing.shape), tuple(thing.stride())
            start = thing.data_ptr()
        elif isinstance(thing, np.ndarray):
            name, shape, start = thing.dtype.name, thing.shape, thing.__array_interface__["data"][0]
            strides = tuple(step // thing.itemsize for step in thing.strides)
        else:
            return None
        offset = start - self._address
        return (name, shape, strides, offset) if 0 <= offset < len(self._memory) else None


def _address_of(memory: mmap.mmap) -> int:
    return torch.frombuffer(memory, dtype=torch.uint8).data_ptr()


class Borrowed:
    """A function that is executed in the driver's process."""

    def __init__(self, link: Link, number: int) -> None:
        self._link = link
        self._number = number

    def __call__(self, *arguments: Any) -> Any:
        given = [one for one in arguments if isinstance(one, torch.Tensor)]
        call = _Call(self._link, self._number, arguments)
        if torch.is_grad_enabled() and any(one.is_floating_point() for one in given):
            return _RemoteCall.apply(call, *given)  # type: ignore[no-untyped-call]
        return call.forward(given, grad=False)


class _Call:
    """One call of a borrowed function."""

    def __init__(self, link: Link, number: int, arguments: tuple[Any, ...]) -> None:
        self._link = link
        self._number = number
        self._plain = [None if isinstance(one, torch.Tensor) else one for one in arguments]
        self._at = [at for at, one in enumerate(arguments) if isinstance(one, torch.Tensor)]
        self.node = -1

    def forward(self, given: list[torch.Tensor], *, grad: bool) -> Any:
        arguments = list(self._plain)
        for at, one in zip(self._at, given, strict=True):
            arguments[at] = one.detach()
        sent = [tensors.from_torch(one, CAPS.total) for one in arguments]
        value, self.node = self._exchange(("call", self._number, sent, grad))
        return tensors.to_torch(value)

    def backward(self, upstream: torch.Tensor, count: int) -> list[torch.Tensor | None]:
        if self.node < 0:
            return [None] * count
        (grads,) = self._exchange(("vjp", self.node, tensors.from_torch(upstream.detach(), CAPS.total)))
        return [tensors.to_torch(one) for one in grads]

    def _exchange(self, request: Value) -> tuple[Any, ...]:
        match values.decode(self._link.request(values.encode(request, CAPS)), CAPS):
            case ("ok", *results):
                return tuple(results)
            case ("raised", str(name), str(text)):
                raise AnswerProblem.make("raised", name, text)
        raise ValueError("an unknown reply")


class _RemoteCall(torch.autograd.Function):
    """Makes a borrowed function differentiable once."""

    @staticmethod
    def forward(call: _Call, *given: torch.Tensor) -> Any:
        return call.forward(list(given), grad=True)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.call = inputs[0]
        # Kept as in any function of torch, so that a freed graph cannot be used and a checkpoint computes it again.
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> Any:
        return (None, *ctx.call.backward(upstream, len(ctx.saved_tensors)))


_WARM_UP_DRIVER = """
def call(answer, lent, x):
    y = answer(lent, x.requires_grad_())
    y.sum().backward()
    return y.detach(), x.grad


def drive(answer, x):
    held = answer.share(x)
    result = answer.run(call, answer, answer.lend(lambda t: t * 2), held)
    return {"result": result, "held": held.now()}
"""


def warm_up_driving() -> None:
    """Drives a small answer, so that what torch loads for it is there before a fork."""
    driver: dict[str, Any] = {}
    exec(_WARM_UP_DRIVER, driver)  # noqa: S102 - our own text
    drive_directly(driver, lambda lent, x: lent(x), (torch.ones(2),))


def drive_directly(driver: dict[str, Any], entry: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Drives a trusted function in this process and thread, and returns what the driver returns."""
    memory = mmap.mmap(-1, MEMORY_BYTES)
    toward, back = _Direct(), _Direct()
    toward.request = AnswerSide(back, memory, entry, driver, _described).handle
    answer = Answer(toward, OwnMemory(memory), driver)
    back.request = answer.handle
    return driver["drive"](answer, *arguments)


class Driving:
    """Drives a trusted function as a reference is driven: both halves in this process, each in a thread of its own.

    The function's thread takes no signals, so that a handler in the caller's thread can end a call that lasts too long.
    """

    def __init__(self, driver: dict[str, Any], entry: Callable[..., Any]) -> None:
        memory = mmap.mmap(-1, MEMORY_BYTES)
        loop = Loopback()
        side = AnswerSide(loop.answer, memory, entry, driver, _described)

        def handle(payload: bytes) -> bytes:
            if payload:
                return side.handle(payload)
            raise _Ended

        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        loop.serve(handle)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self._driver = driver
        self._link = loop.driver
        self._answer = Answer(loop.driver, OwnMemory(memory), driver)
        self._link.handle = self._answer.handle

    def __call__(self, *arguments: Any) -> Any:
        """Returns what the driver returns for one case."""
        self._answer.reset()
        return self._driver["drive"](self._answer, *arguments)

    def end(self) -> None:
        """Ends the function's thread, which must not be at work."""
        with contextlib.suppress(_Ended):
            self._link.request(b"")


class _Ended(Exception):
    """Ends the thread of a function that is not driven any more."""


class _Direct:
    """A link without a thread."""

    request: Handler = staticmethod(lambda payload: payload)


def _described(kind: str, problem: BaseException) -> tuple[str, str, str]:
    if not isinstance(problem, Exception):
        raise problem
    return kind, type(problem).__name__, str(problem)
