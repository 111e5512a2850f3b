"""Converts between torch or numpy objects and plain values. Imports torch, so only a child may import this module."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from sandbox.values import ITEM_BYTES, Array, Tensor, Value


def to_torch(value: Value, device: str = "cpu") -> Any:
    """Returns the objects a program is called with: writable copies that share no memory, tensors on `device`."""
    if isinstance(value, Tensor):
        return _tensor(value, device)
    if isinstance(value, Array):
        return np.frombuffer(bytearray(value.data), dtype=np.dtype(value.dtype)).reshape(value.shape)
    if isinstance(value, tuple):
        return tuple(to_torch(item, device) for item in value)
    if isinstance(value, list):
        return [to_torch(item, device) for item in value]
    if isinstance(value, dict):
        return {key: to_torch(item, device) for key, item in value.items()}
    return value


def _tensor(value: Tensor, device: str) -> torch.Tensor:
    dtype = getattr(torch, value.dtype)
    if not value.data:
        made = torch.empty(value.shape, dtype=dtype)
    else:
        # As bytes first: torch then makes an aligned copy without interpreting the elements.
        flat = torch.frombuffer(bytearray(value.data), dtype=torch.uint8).clone()
        made = flat.view(dtype).reshape(value.shape)
    # Moved before it requires a gradient, so that the tensor on the device is a leaf.
    made = made.to(device)
    return made.requires_grad_() if value.requires_grad else made


def from_torch(result: Any, most_bytes: int) -> Value:
    """Converts what a program returned. Raises TypeError for an unsupported type and ResultTooLarge beyond the limit.

    A numpy number becomes a Python number, a torch.Size a tuple, and a torch.dtype or torch.device its name.
    """
    return _Converter(most_bytes).convert(result, 0)


class ResultTooLarge(ValueError):
    """The result exceeds the run's limit."""


class _Converter:
    """Converts one result and counts its bytes before it copies anything."""

    def __init__(self, most_bytes: int) -> None:
        self.left = most_bytes

    def convert(self, thing: Any, depth: int) -> Value:
        if depth > 30:
            raise TypeError("a result nested deeper than 30, or one that contains itself, cannot be returned")
        if isinstance(thing, torch.Tensor):
            return self.tensor(thing)
        if isinstance(thing, np.ndarray):
            return self.array(thing)
        if isinstance(thing, np.generic):
            thing = thing.item()
        if isinstance(thing, (torch.dtype, torch.device)):
            return str(thing)
        if isinstance(thing, (tuple, list, dict)):
            return self.container(thing, depth)
        return self.plain(thing)

    def plain(self, thing: Any) -> Value:
        self.spend(16)
        if thing is None or type(thing) in (bool, float, complex):
            return thing  # type: ignore[no-any-return]
        if isinstance(thing, int):
            self.spend(thing.bit_length() // 8)
            return int(thing)
        if type(thing) in (str, bytes):
            self.spend(len(thing))
            return thing  # type: ignore[no-any-return]
        raise TypeError(f"a value of type {type(thing).__name__} cannot be returned")

    def container(self, thing: Any, depth: int) -> Value:
        self.spend(8 * len(thing))
        if isinstance(thing, dict):
            if any(type(key) is not str for key in thing):
                raise TypeError("a dict with a key that is not text cannot be returned")
            return {key: self.convert(item, depth + 1) for key, item in thing.items()}
        items = [self.convert(item, depth + 1) for item in thing]
        return tuple(items) if isinstance(thing, tuple) else items

    def tensor(self, thing: torch.Tensor) -> Tensor:
        kind = type(thing)
        if kind is torch.nn.Parameter:
            grad, thing = thing.requires_grad, thing.data
        elif kind is torch.Tensor:
            grad = thing.requires_grad
        else:
            raise TypeError(f"a {kind.__name__}, a subclass of Tensor, cannot be returned")
        if thing.layout is not torch.strided or thing.device.type not in ("cpu", "cuda") or thing.is_nested:
            raise TypeError(f"only a dense tensor with data can be returned, not {thing.layout} on {thing.device}")
        name = str(thing.dtype).removeprefix("torch.")
        shape = tuple(thing.shape)
        # A view with stride 0 can claim any size at no cost, so count before copying.
        self.block(name, shape)
        plain = thing.detach().cpu().resolve_conj().resolve_neg()
        if thing.dtype is torch.bfloat16:  # numpy has none
            plain = plain.view(torch.int16)
        data = plain.numpy().tobytes()
        return Tensor(name, shape, data, grad)

    def array(self, thing: Any) -> Array:
        if type(thing) is not np.ndarray:
            raise TypeError(f"a {type(thing).__name__}, a subclass of ndarray, cannot be returned")
        self.block(thing.dtype.name, thing.shape)
        plain = thing.astype(thing.dtype.newbyteorder("<"), copy=False)
        return Array(thing.dtype.name, tuple(thing.shape), plain.tobytes())

    def block(self, name: str, shape: tuple[int, ...]) -> None:
        if name not in ITEM_BYTES:
            raise TypeError(f"elements of {name} cannot be returned")
        self.spend(math.prod(shape) * ITEM_BYTES[name] + 8 * len(shape))

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise ResultTooLarge("the result is larger than the limit")
