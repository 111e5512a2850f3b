"""Stand-ins for tensors that a question's driver withholds: the answer's half of `sandbox.inside.operations`.

A stand-in has a shape and a dtype, and no numbers. While the answer is called, each operation of torch is requested
from the driver's process, including those that create tensors, so that stand-ins can be written into what they create.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from sandbox.inside import tensors
from sandbox.inside.driver import CAPS
from sandbox.inside.operations import is_written
from sandbox.inside.tracebacks import text_of
from sandbox.values import Value

Exchange = Callable[[Value], tuple[Any, ...]]
"""Sends a request to the driver's process and returns its results, or raises the exception of a name with a text."""


class StandIn(torch.Tensor):
    """A tensor without numbers."""

    stands_for: int
    """Number of the tensor in the driver's process."""
    made_by: OperationLog

    @staticmethod
    def of(log: OperationLog, described: tuple[Any, ...]) -> StandIn:
        """Returns the stand-in for a tensor that the driver's process described."""
        number, dtype, shape, strides, offset = described
        made: StandIn = torch.Tensor._make_wrapper_subclass(
            StandIn, shape, strides=strides, storage_offset=offset, dtype=getattr(torch, dtype)
        )
        made.stands_for, made.made_by = number, log
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, operation: Any, types: Any, arguments: Any = (), options: dict[str, Any] | None = None
    ) -> Any:
        given = [*arguments, *(options or {}).values()]
        log = next(one.made_by for one in _flat(given) if isinstance(one, StandIn))
        return log.execute(operation, arguments, options or {})

    def __repr__(self, **_options: Any) -> str:  # type: ignore[override]
        return f"tensor(of shape {tuple(self.shape)}, dtype={self.dtype})"

    def __format__(self, _spec: str) -> str:
        return repr(self)

    def __deepcopy__(self, _memo: object) -> torch.Tensor:
        return self.clone()

    def tolist(self) -> Any:
        """Reads each number."""
        return [one.tolist() for one in self] if self.dim() else self.item()

    def numpy(self, *_arguments: object, **_options: object) -> NoReturn:
        """Raises TypeError: numpy computes outside torch."""
        raise TypeError("these tensors cannot be numpy arrays: compute with operations of torch")

    __array__ = numpy

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        """Raises TypeError: the numbers are elsewhere."""
        raise TypeError("these tensors cannot be pickled or saved: use clone() for a copy")

    def apply_(self, *_arguments: object) -> NoReturn:
        """Raises TypeError: it would read memory that is not there."""
        raise TypeError("functions of Python cannot be applied to these numbers: compute with operations of torch")

    map_ = map2_ = apply_  # type: ignore[assignment]


class OperationLog(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Requests the operations of the answer's process from the driver's."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._exchange = exchange

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: dict[str, Any] | None = None
    ) -> Any:
        return self.execute(operation, arguments, options or {})

    def execute(self, operation: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """Sends an operation to the driver's process, which executes it."""
        namespace, _, name = operation._schema.name.partition("::")
        if namespace == "profiler":
            return operation(*arguments, **options)
        if name == "lift_fresh":
            return self.upload(arguments[0])
        known = {one.stands_for: one for one in _flat([*arguments, *options.values()]) if isinstance(one, StandIn)}
        for one, argument in zip(arguments, operation._schema.arguments, strict=False):
            if is_written(argument) and isinstance(one, torch.Tensor) and not isinstance(one, StandIn):
                raise RuntimeError("a tensor that the program made before it was called cannot be changed in place")
        described = [_described(one) for one in arguments]
        named = {key: _described(one) for key, one in options.items()}
        name = name if namespace == "aten" else f"{namespace}::{name}"
        overload = operation._overloadname
        (result,) = self._exchange(("operation", name, overload, described, named))
        return self._real(result, known)

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sends a tensor of the answer's process to the driver's, and returns a stand-in for the copy."""
        if isinstance(tensor, StandIn):
            return tensor
        (result,) = self._exchange(("operation", "clone", "default", [_described(tensor)], {}))
        return self._real(result, {})  # type: ignore[no-any-return]

    def uploaded(self, thing: Any) -> Any:
        """Returns an argument of the answer with stand-ins for all of its tensors."""
        if type(thing) is torch.Tensor:
            return self.upload(thing)
        if isinstance(thing, (tuple, list)):
            return type(thing)(self.uploaded(one) for one in thing)
        return {key: self.uploaded(one) for key, one in thing.items()} if type(thing) is dict else thing

    def _real(self, result: Value, known: dict[int, StandIn]) -> Any:
        match result:
            case ("withheld", int(number), *described):
                return known[number] if number in known else StandIn.of(self, (number, *described))
            case ("list", list(items)):
                return [self._real(one, known) for one in items]
            case ("plain", value):
                return tensors.to_torch(value)
        raise ValueError("an unknown result")


def reworded(problem: BaseException) -> BaseException:
    """Returns what to tell instead of torch's error about a tensor whose memory is not there."""
    if isinstance(problem, RuntimeError) and "its data is not allocated yet" in text_of(problem):
        error = RuntimeError("torch.tensor cannot read these tensors: use torch.stack or torch.cat")
        return error.with_traceback(problem.__traceback__)
    return problem


def result_of(thing: Any) -> Value:
    """Returns what the answer returned as data, with the numbers of its stand-ins."""
    if isinstance(thing, StandIn):
        return ("withheld", thing.stands_for)
    if isinstance(thing, (tuple, list)):
        return ("tuple" if isinstance(thing, tuple) else "list", [result_of(one) for one in thing])
    if type(thing) is dict:
        return ("dict", {str(key): result_of(one) for key, one in thing.items()})
    return ("plain", tensors.from_torch(thing, CAPS.total))


def _flat(things: Any) -> Any:
    for one in things:
        if isinstance(one, (tuple, list)):
            yield from _flat(one)
        else:
            yield one


def _described(thing: Any) -> Value:
    if isinstance(thing, StandIn):
        return ("withheld", thing.stands_for)
    if isinstance(thing, (tuple, list)):
        return ("list", [_described(one) for one in thing])
    if isinstance(thing, torch.dtype):
        return ("dtype", str(thing).removeprefix("torch."))
    if isinstance(thing, torch.memory_format):
        return ("format", str(thing).removeprefix("torch."))
    if thing == torch.device("cpu") or thing is torch.strided:
        return ("plain", None)
    with torch._C._DisableTorchDispatch():
        return ("plain", tensors.from_torch(thing, CAPS.total))
