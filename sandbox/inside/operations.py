"""The log of operations: what a question's driver executes for an answer that has stand-ins instead of tensors.

A tensor that `answer.withhold` gets stays in the driver's process. The answer's process has a stand-in that knows its
shape and dtype (`sandbox.inside.stand_in`). Each operation on it is requested here by its name, checked, and executed
here, in a process where the answer's code never runs. So a result was computed by the operations that were allowed, in
whatever way the answer's process chose them; a function that is not among them cannot have touched the numbers.

The answer must not learn the numbers either, or it could compute the result by other means and state it as a constant.
What depends on withheld numbers is marked as secret, and how much of it is read is counted: numbers, truth values and
shapes that depend on data. A request is executed at once on outlines, which have zeros in place of secret numbers, so
that neither its time nor an error shows any of them. With the numbers it is executed later: before the next number is
read, or when the answer has returned. An error then ends the case.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sandbox.inside import tensors
from sandbox.values import Caps, Value

_CAPS = Caps(total=64 * 1024 * 1024, items=10**6)
_MAX_OPERATIONS = 100_000
"""Maximum number of operations a case. Every result is kept until its end."""
_MAX_DOUBTS = 3
"""Maximum number of operations a case, besides one for each read, that are executed with the numbers at once because
they fail on outlines: an integer cannot be divided by zero, for example. The time of each may show a few bits."""
_MAX_REPEATED = 10**8
"""Maximum size of what `repeat_interleave` returns."""
_EMPTY = ("empty", "empty_like", "new_empty")
"""Made with zeros here: memory that was in use may hold numbers that are withheld."""
_NUMBERS = ("_local_scalar_dense", "equal")
"""Return a number or a truth value."""
_GENERAL = """
abs add addcdiv addcmul addmm addmv atan atan2 baddbmm bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor bmm ceil clamp clamp_max clamp_min cos cosh div dot erf erfc exp exp2 expm1 floor
floor_divide fmax fmin fmod frac hypot lerp log log10 log1p log2 logaddexp logaddexp2 maximum minimum mm mul mv
nan_to_num neg pow reciprocal remainder round rsqrt rsub sgn sign signbit sin sinh sqrt square sub tan tanh trunc
xlogy
elu gelu leaky_relu relu sigmoid silu softplus log_sigmoid_forward _log_softmax _softmax logcumsumexp logsumexp
eq equal ge gt isinf isnan le logical_and logical_not logical_or logical_xor lt ne where
all amax amin aminmax any argmax argmin argsort bincount bucketize count_nonzero cummax cummin cumprod cumsum
linalg_vector_norm max mean median min nansum norm prod searchsorted sort std std_mean sum topk
unique_consecutive unique_dim unique_dim_consecutive _unique2 var var_mean
_reshape_alias _unsafe_view alias cat clone constant_pad_nd copy detach diagonal expand flip permute
repeat repeat_interleave roll select select_scatter slice slice_scatter split split_with_sizes squeeze stack t
transpose tril triu unbind unfold unsqueeze view _to_copy
embedding fill gather index index_add index_copy index_fill index_put index_select masked_fill masked_scatter
masked_select nonzero put scatter scatter_add scatter_reduce take zero
arange empty empty_like eye full full_like linspace new_empty new_full new_ones new_zeros ones ones_like
scalar_tensor zeros zeros_like
_local_scalar_dense
"""
ALLOWED = frozenset(_GENERAL.split())
"""General operations of ATen, by name. Losses, normalizations, attention and the fused steps of optimizers are not
among them, nor random numbers. In-place variants have a `_` at their end. A driver takes names away by `WITHOUT`."""


class Withheld:
    """A tensor in the driver's process for which the answer's process has a stand-in."""

    def __init__(self, number: int, operations: Operations) -> None:
        self.number = number
        self._operations = operations

    def now(self) -> torch.Tensor:
        """Returns what the tensor holds now, after the operations so far."""
        return self._operations.now(self.number)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a driver says of the operations on tensors that it withholds."""

    allowed: frozenset[str] = ALLOWED
    reads: int = 0
    """Numbers that an answer may read in a case."""

    @staticmethod
    def of(driver: Mapping[str, Any]) -> Rules:
        """Returns the rules of a driver, from its names `WITHOUT` and `READS`. Raises ValueError for mistakes."""
        without, reads = driver.get("WITHOUT", []), driver.get("READS", 0)
        if not isinstance(without, list) or not set(without) <= ALLOWED:
            raise ValueError(f"WITHOUT: not a list of operations that are allowed otherwise: {without}")
        if type(reads) is not int or reads < 0:
            raise ValueError(f"READS: not a count: {reads}")
        return Rules(ALLOWED - set(without), reads)


@dataclass(frozen=True, slots=True)
class _Request:
    """An operation that was executed on outlines."""

    name: str
    operation: Any
    arguments: list[Value]
    options: dict[str, Value]
    results: list[int]
    """Numbers of the tensors that it returned."""


class Operations:
    """Executes the operations of one case at a time."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._reads = 0
        self._doubts = 0
        self._tensors: list[torch.Tensor] = []
        """Outlines: what the answer may know of each tensor."""
        self._real: dict[int, torch.Tensor] = {}
        """Tensors with the numbers, as far as requests were executed on them."""
        self._waiting: list[_Request] = []
        """Requests that were not executed with the numbers yet."""
        self._numbers: dict[int, int] = {}
        """Number of each tensor, by the id of its outline."""
        self._over = False
        """Whether the case is over because numbers were read, or may have been."""
        self._failure: Exception | None = None
        """What an operation raised that was executed with the numbers."""
        self._secret: set[int] = set()
        """Storages of outlines that have zeros in place of something that depends on withheld numbers."""

    def reset(self) -> None:
        """Forgets the tensors of the last case."""
        self._tensors.clear()
        self._real.clear()
        self._waiting.clear()
        self._numbers.clear()
        self._secret.clear()
        self._reads = self._doubts = 0
        self._over = False
        self._failure = None

    def withhold(self, tensor: torch.Tensor) -> Withheld:
        """Keeps a copy of a tensor."""
        kept = tensor.detach().clone()
        outline = _outline(kept)
        self._secret.add(_storage(outline))
        number = self._keep(outline)
        self._real[number] = kept
        return Withheld(number, self)

    def describe(self, number: int) -> Value:
        """Returns what a stand-in knows of a tensor."""
        kept = self._tensors[number]
        place: tuple[Value, ...] = (tuple(kept.shape), tuple(kept.stride()), int(kept.storage_offset()))
        return ("withheld", number, str(kept.dtype).removeprefix("torch."), *place)

    def now(self, number: int) -> torch.Tensor:
        """Returns a copy of a tensor with its numbers. Raises what `finish` raises."""
        self.finish()
        return self._real[number].clone()

    def result(self, described: Value) -> Any:
        """Returns what an answer returned, with the tensors of its stand-ins. Raises what `finish` raises."""
        match described:
            case ("withheld", int(number)) if 0 <= number < len(self._tensors):
                return self.now(number)
            case ("plain", value):
                return tensors.to_torch(value)
            case ("tuple", list(items)):
                return tuple(map(self.result, items))
            case ("list", list(items)):
                return list(map(self.result, items))
            case ("dict", dict(items)):
                return {key: self.result(one) for key, one in items.items()}
        raise ValueError("an unknown result")

    @torch.no_grad()
    def finish(self) -> None:
        """Executes with the numbers what was executed on outlines. Raises what that raises, which ends the case."""
        if self._failure is not None:
            raise self._failure
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            result = self._with_numbers(one.name, one.operation, one.arguments, one.options)
            self._real.update(zip(one.results, _tensors_in(result), strict=True))

    @torch.no_grad()
    def execute(self, name: str, overload: str, arguments: list[Value], options: dict[str, Value]) -> Value:
        """Executes an operation. Returns its result, with tensors as `describe` does. Raises what it raises."""
        if self._over:
            raise RuntimeError("an operation on these tensors failed before, which ends the case")
        if not self._secret:
            # The driver's process is not there to compute for an answer that could compute itself.
            raise RuntimeError("no tensor is withheld")
        operation = self._find(name, overload)
        outlines = [self._argument(one, self._tensors) for one in arguments]
        named = {key: self._argument(one, self._tensors) for key, one in options.items()}
        places = {one.name: one for one in operation._schema.arguments}
        given = dict(zip(places, outlines, strict=False)) | named
        for key, one in given.items():
            # In place of a number, a tensor would be read.
            if list(_tensors_in(one)) and "Tensor" not in str(places[key].type):
                raise TypeError(f"{name}: `{key[:100]}` cannot be a tensor")
        secret = [one for one in _tensors_in(list(given.values())) if _storage(one) in self._secret]
        shows = bool(secret) and _shows_data(operation, given, secret)
        if shows:
            self._read()
            if any(one.is_complex() for one in secret):  # two numbers
                self._read()
            result = self._at_once(name, operation, arguments, options)
        else:
            try:
                result = _perform(name, operation, outlines, named)
            except Exception:
                if not secret:
                    raise
                self._doubt()
                shows, result = True, self._at_once(name, operation, arguments, options)
        if secret:
            if not shows:
                result = self._without_contents(result, set(map(_storage, _tensors_in(list(given.values())))))
            written = [one for key, one in given.items() if is_written(places[key])]
            self._secret.update(map(_storage, _tensors_in([*written, result])))
        described = self._described(result)
        if not shows:
            numbers = [self._numbers[id(one)] for one in _tensors_in(result)]
            self._waiting.append(_Request(name, operation, arguments, options, numbers))
        return described

    def _doubt(self) -> None:
        """Counts an operation that fails on outlines, perhaps for their zeros."""
        self._doubts += 1
        # What a read shows is often such an operation's argument: the places of a mask that are true, for example.
        if self._doubts > _MAX_DOUBTS + self._rules.reads:
            self._over = True
            raise RuntimeError("too many operations that fail for zeros in place of these numbers")

    def _at_once(self, name: str, operation: Any, arguments: list[Value], options: dict[str, Value]) -> Any:
        """Executes an operation with the numbers. Returns its result with outlines of new tensors."""
        self.finish()
        result = self._with_numbers(name, operation, arguments, options)
        return self._outlined(result)

    def _without_contents(self, result: Any, storages: set[int]) -> Any:
        """Returns a result with outlines of the tensors that have none of these storages."""
        if isinstance(result, (tuple, list)):
            return [self._without_contents(one, storages) for one in result]
        if not isinstance(result, torch.Tensor) or _storage(result) in storages:
            return result
        return _outline(result)

    def _outlined(self, result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return [self._outlined(one) for one in result]
        if not isinstance(result, torch.Tensor):
            return result
        number = next((number for number, one in self._real.items() if one is result), None)
        if number is None:
            number = self._keep(_outline(result))
            self._real[number] = result
        return self._tensors[number]

    def _with_numbers(self, name: str, operation: Any, arguments: list[Value], options: dict[str, Value]) -> Any:
        """Executes an operation with the numbers. An error ends the case, as it may depend on them."""
        real = [self._argument(one, self._real) for one in arguments]
        named = {key: self._argument(one, self._real) for key, one in options.items()}
        try:
            return _perform(name, operation, real, named)
        except Exception as problem:
            self._over = True
            kind = type(problem) if isinstance(problem, (IndexError, TypeError, ValueError)) else RuntimeError
            self._failure = kind(f"{name}: {_without_numbers(str(problem), [*real, *named.values()])}")
            raise self._failure from None

    def _find(self, name: str, overload: str) -> Any:
        if name not in self._rules.allowed and name.removesuffix("_") not in self._rules.allowed:
            raise RuntimeError(f"this task is to be solved without the operation {name[:100]}")
        return _operation(name, overload[:100])

    def _argument(self, described: Value, kept: list[torch.Tensor] | dict[int, torch.Tensor]) -> Any:
        match described:
            case ("withheld", int(number)) if 0 <= number < len(self._tensors):
                return kept[number]
            case ("plain", value):
                return tensors.to_torch(value)
            case ("dtype", str(name)) if isinstance(getattr(torch, name, None), torch.dtype):
                return getattr(torch, name)
            case ("format", str(name)) if isinstance(getattr(torch, name, None), torch.memory_format):
                return getattr(torch, name)
            case ("list", list(items)):
                return [self._argument(one, kept) for one in items]
        raise RuntimeError("an argument that cannot be sent to the driver")

    def _described(self, result: Any) -> Value:
        if isinstance(result, torch.Tensor):
            number = self._numbers.get(id(result))
            return self.describe(self._keep(result) if number is None else number)
        if isinstance(result, (tuple, list)):
            return ("list", [self._described(one) for one in result])
        return ("plain", tensors.from_torch(result, _CAPS.total))

    def _keep(self, tensor: torch.Tensor) -> int:
        if len(self._tensors) >= _MAX_OPERATIONS:
            raise MemoryError(f"more than {_MAX_OPERATIONS} operations")
        self._numbers[id(tensor)] = len(self._tensors)
        self._tensors.append(tensor)
        return len(self._tensors) - 1

    def _read(self) -> None:
        """Counts something that shows withheld numbers to the answer."""
        self._reads += 1
        if self._reads > self._rules.reads:
            self._over = True
            often = f" more than {self._rules.reads} times" if self._rules.reads else ""
            raise RuntimeError(
                f"the numbers of these tensors cannot be read{often}: compute with operations of torch instead of "
                "conditions, items and lists"
            )


def _perform(name: str, operation: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    """Executes an operation on tensors."""
    if name == "repeat_interleave":
        arguments, options = [_checked_repeats(arguments[0])], {}
    result = operation(*arguments, **options)
    _refuse_foreign_memory(result)
    if name in _EMPTY:
        result.zero_()
    return result


def _outline(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor of the same kind and layout with zeros, which take no memory until they are written to."""
    count = tensor.untyped_storage().nbytes()
    zeros = torch.from_numpy(np.zeros(count, np.uint8)).view(tensor.dtype) if count else tensor.new_empty(0)
    return zeros.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


@functools.lru_cache(maxsize=1000)
def _operation(name: str, overload: str) -> Any:
    """Returns an operation on tensors of a name that is allowed."""
    packet = getattr(torch.ops.aten, name)
    if overload not in packet.overloads():
        raise RuntimeError(f"an unknown operation {name}.{overload}")
    operation = getattr(packet, overload)
    # What torch puts together from other operations arrives here as those.
    composed = torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), "CompositeImplicitAutograd")
    returns = all("Tensor" in str(one.type) for one in operation._schema.returns)
    if composed or not (returns or name in _NUMBERS):
        raise RuntimeError(f"{name}.{overload}: not an operation on tensors")
    if any(one.is_out for one in operation._schema.arguments) or torch.Tag.inplace_view in operation.tags:
        raise RuntimeError(f"{name}: write into parts of a tensor instead of passing `out=` or changing its shape")
    return operation


def is_written(argument: Any) -> bool:
    """Returns whether an operation writes to an argument, from its schema."""
    return argument.alias_info is not None and argument.alias_info.is_write


def _shows_data(operation: Any, given: dict[str, Any], secret: list[torch.Tensor]) -> bool:
    """Returns whether the result of an operation on secret tensors is a number, or has a shape that depends on one."""
    if operation is torch.ops.aten.index.Tensor:
        masks = [one for one in _tensors_in(given.get("indices")) if one.dtype in (torch.bool, torch.uint8)]
        return any(mask is one for mask in masks for one in secret)
    return bool({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & set(operation.tags))


def _checked_repeats(repeats: torch.Tensor) -> torch.Tensor:
    """Returns how often to repeat each place. Raises RuntimeError for what torch would write outside its memory for:
    it believes a size that is passed, and a sum that is too large for its integers."""
    if repeats.numel() and (repeats.min() < 0 or repeats.double().sum() > _MAX_REPEATED):
        raise RuntimeError("repeats must be numbers from 0, and not too many")
    return repeats


def _refuse_foreign_memory(result: Any) -> None:
    """Raises RuntimeError for a view that reaches beyond its memory: torch makes some without a look at the size."""
    for one in _tensors_in(result):
        reach = [(size - 1) * stride for size, stride in zip(one.shape, one.stride(), strict=True)]
        last = one.storage_offset() + sum(reach) + 1
        if 0 not in one.shape and last * one.element_size() > one.untyped_storage().nbytes():
            raise RuntimeError("a view beyond the memory of its tensor")


def _without_numbers(text: str, given: list[Any]) -> str:
    """Returns torch's text of an error, without numbers that may be withheld ones, such as an index outside a tensor.

    Sizes and numbers that the answer passed itself stay: they are known there.
    """
    sizes = [size for one in _tensors_in(given) for size in (one.dim(), *range(one.dim()), *one.shape)]
    known = {str(one) for one in (*sizes, *_integers_in(given))}
    return _NUMBER.sub(lambda found: found[0] if found[0] in known else "…", text)


_NUMBER = re.compile(r"(?<![\w.])-?\d[\d.e+]*")


def _integers_in(thing: Any) -> Iterator[int]:
    if isinstance(thing, int):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            yield from _integers_in(one)


def _tensors_in(thing: Any) -> Iterator[torch.Tensor]:
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            yield from _tensors_in(one)


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
