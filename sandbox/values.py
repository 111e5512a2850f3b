"""Plain values to bytes and back: tagged, little-endian, capped, never pickle. Imports no torch and no numpy.

A value is None, bool, int, float, complex, str, bytes, a tuple, a list, a dict with text keys, a Tensor or an
Array. Every length is checked against the bytes that are there before anything is allocated for it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

ITEM_BYTES: dict[str, int] = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
}
"""The element types that cross, with their size. The order is the code on the wire: only ever append."""

_NAMES = tuple(ITEM_BYTES)
_MOST_DIMENSIONS = 32
_MOST_ELEMENTS = 1 << 40


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor as data: contiguous, little-endian."""

    dtype: str
    """A key of ITEM_BYTES."""
    shape: tuple[int, ...]
    data: bytes
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """A numpy array as data. Kept apart from Tensor: returning the one for the other is a wrong answer."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


Value = (
    None
    | bool
    | int
    | float
    | complex
    | str
    | bytes
    | tuple["Value", ...]
    | list["Value"]
    | dict[str, "Value"]
    | Tensor
    | Array
)


@dataclass(frozen=True, slots=True)
class Caps:
    """How large an encoding may be."""

    total: int = 16 * 1024 * 1024
    """Bytes."""
    depth: int = 32
    """Containers within containers."""
    items: int = 200_000
    """Values, containers included."""


DEFAULT = Caps()
_LENGTH, _FLOAT, _COMPLEX, _LONG = (struct.Struct(form) for form in ("<I", "<d", "<dd", "<Q"))


class _Writer:
    def __init__(self, caps: Caps) -> None:
        self.out = bytearray()
        self.caps = caps
        self.items = 0

    def put(self, *parts: bytes) -> None:
        if len(self.out) + sum(map(len, parts)) > self.caps.total:
            raise ValueError(f"the value is larger than {self.caps.total} bytes")
        for part in parts:
            self.out += part

    def value(self, value: Value, depth: int) -> None:
        self.items += 1
        if self.items > self.caps.items:
            raise ValueError(f"the value holds more than {self.caps.items} items")
        if depth > self.caps.depth:
            raise ValueError(f"the value is nested deeper than {self.caps.depth}")
        if isinstance(value, (tuple, list, dict)):
            self.container(value, depth)
        elif isinstance(value, (Tensor, Array)):
            self.block(value)
        else:
            self.scalar(value)

    def scalar(self, value: object) -> None:
        if value is None or isinstance(value, bool):
            self.put(b"N" if value is None else b"T" if value else b"F")
        elif isinstance(value, int):
            self.sized(b"i", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
        elif isinstance(value, float):
            self.put(b"f", _FLOAT.pack(value))
        elif isinstance(value, complex):
            self.put(b"c", _COMPLEX.pack(value.real, value.imag))
        elif isinstance(value, str):
            self.sized(b"s", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, bytes):
            self.sized(b"b", value)
        else:
            raise ValueError(f"a {type(value).__name__} is not a plain value")

    def sized(self, tag: bytes, data: bytes) -> None:
        self.put(tag, _LENGTH.pack(len(data)), data)

    def container(self, value: tuple[Value, ...] | list[Value] | dict[str, Value], depth: int) -> None:
        tag = b"(" if isinstance(value, tuple) else b"[" if isinstance(value, list) else b"{"
        self.put(tag, _LENGTH.pack(len(value)))
        if isinstance(value, dict):
            for key, item in value.items():
                if not isinstance(key, str):
                    raise ValueError("a dict has a key that is not text")
                self.scalar(key)
                self.value(item, depth + 1)
            return
        for item in value:
            self.value(item, depth + 1)

    def block(self, value: Tensor | Array) -> None:
        expected = _block_bytes(value.dtype, value.shape)
        if expected != len(value.data):
            raise ValueError(f"{value.dtype} of shape {value.shape} takes {expected} bytes, not {len(value.data)}")
        grad = isinstance(value, Tensor) and value.requires_grad
        head = bytes((_NAMES.index(value.dtype), grad, len(value.shape)))
        shape = b"".join(map(_LONG.pack, value.shape))
        self.put(b"t" if isinstance(value, Tensor) else b"n", head, shape, value.data)


def _block_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes that a block takes. Raises ValueError for a type or a shape that does not cross."""
    if dtype not in ITEM_BYTES:
        raise ValueError(f"{dtype} is not an element type that crosses")
    if len(shape) > _MOST_DIMENSIONS or any(side < 0 for side in shape):
        raise ValueError("a shape with a negative side or too many of them")
    # Beside a side of 0 the others could be anything, and numpy could not hold it.
    if math.prod(max(side, 1) for side in shape) > _MOST_ELEMENTS:
        raise ValueError(f"a shape of more than {_MOST_ELEMENTS} elements")
    return math.prod(shape) * ITEM_BYTES[dtype]


class _Reader:
    def __init__(self, data: bytes | memoryview, caps: Caps) -> None:
        self.data = memoryview(data)
        self.at = 0
        self.caps = caps
        self.items = 0
        self.readers: dict[bytes, Callable[[int], Value]] = {
            b"N": lambda _: None,
            b"T": lambda _: True,
            b"F": lambda _: False,
            b"i": lambda _: int.from_bytes(self.sized(), "little", signed=True),
            b"f": lambda _: float(_FLOAT.unpack(self.take(8))[0]),
            b"c": lambda _: complex(*_COMPLEX.unpack(self.take(16))),
            b"s": lambda _: self.text(),
            b"b": lambda _: self.sized(),
            b"(": lambda depth: tuple(self.several(depth)),
            b"[": lambda depth: list(self.several(depth)),
            b"{": self.mapping,
            b"t": lambda _: self.tensor(),
            b"n": lambda _: self.array(),
        }

    def wrong(self, what: str) -> ValueError:
        return ValueError(f"byte {self.at}: {what}")

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise self.wrong(f"{count} bytes are announced, {len(self.data) - self.at} are there")
        self.at += count
        return bytes(self.data[self.at - count : self.at])

    def sized(self) -> bytes:
        return self.take(int(_LENGTH.unpack(self.take(4))[0]))

    def text(self) -> str:
        start = self.at
        try:
            return self.sized().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.at = start
            raise self.wrong("text that is not UTF-8") from None

    def value(self, depth: int) -> Value:
        self.items += 1
        if self.items > self.caps.items:
            raise self.wrong(f"more than {self.caps.items} items")
        if depth > self.caps.depth:
            raise self.wrong(f"nested deeper than {self.caps.depth}")
        tag = self.take(1)
        read = self.readers.get(tag)
        if read is None:
            self.at -= 1
            raise self.wrong(f"{tag!r} is no tag")
        return read(depth)

    def count(self, least: int) -> int:
        """How many items follow, of at least `least` bytes each."""
        count = int(_LENGTH.unpack(self.take(4))[0])
        if count * least > len(self.data) - self.at:
            raise self.wrong(f"{count} items cannot be in {len(self.data) - self.at} bytes")
        return count

    def several(self, depth: int) -> Iterator[Value]:
        return (self.value(depth + 1) for _ in range(self.count(1)))

    def mapping(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for _ in range(self.count(6)):
            if self.take(1) != b"s":
                raise self.wrong("a key that is not text")
            key = self.text()
            if key in found:
                raise self.wrong("the same key twice")
            found[key] = self.value(depth + 1)
        return found

    def block(self) -> tuple[str, tuple[int, ...], bytes, int]:
        code, flags, sides = self.take(3)
        if code >= len(_NAMES) or flags > 1:
            raise self.wrong("an element type or flag that does not exist")
        if sides > _MOST_DIMENSIONS:
            raise self.wrong(f"{sides} dimensions")
        shape = tuple(int(side) for (side,) in _LONG.iter_unpack(self.take(8 * sides)))
        try:
            size = _block_bytes(_NAMES[code], shape)
        except ValueError as problem:
            raise self.wrong(str(problem)) from None
        return _NAMES[code], shape, self.take(size), flags

    def tensor(self) -> Tensor:
        dtype, shape, data, flags = self.block()
        return Tensor(dtype, shape, data, bool(flags))

    def array(self) -> Array:
        dtype, shape, data, flags = self.block()
        if flags:
            raise self.wrong("an array cannot require a gradient")
        return Array(dtype, shape, data)


def encode(value: Value, caps: Caps = DEFAULT) -> bytes:
    """`value` as bytes. Raises ValueError for what is not plain or is beyond `caps`."""
    writer = _Writer(caps)
    writer.value(value, 0)
    return bytes(writer.out)


def decode(data: bytes, caps: Caps = DEFAULT) -> Value:
    """What `encode` wrote. Raises ValueError naming the offset for anything else, whoever wrote it."""
    if len(data) > caps.total:
        raise ValueError(f"byte 0: {len(data)} bytes, more than {caps.total}")
    reader = _Reader(data, caps)
    value = reader.value(0)
    if reader.at != len(data):
        raise reader.wrong("bytes after the end")
    return value


def join(entries: Iterable[bytes]) -> bytes:
    """Encodings one after the other, each behind its 4-byte length: an Outcome's `results`."""
    return b"".join(_LENGTH.pack(len(entry)) + entry for entry in entries)


def split(data: bytes) -> list[bytes]:
    """What `join` put together. Raises ValueError naming the offset when the last entry is cut short."""
    entries: list[bytes] = []
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise ValueError(f"byte {at}: a length of {len(data) - at} bytes")
        (length,) = _LENGTH.unpack_from(data, at)
        at += 4
        if length > len(data) - at:
            raise ValueError(f"byte {at}: {length} bytes are announced, {len(data) - at} are there")
        entries.append(data[at : at + length])
        at += length
    return entries


# Text that a stranger's program wrote, made harmless for terminals and chats. Nothing else.


_REPLACEMENT = 0xFFFD
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
# They turn the direction of what follows them, so that a line reads as another than it is.
_TURNING = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_TABLE: dict[int, int | str] = dict.fromkeys([*_CONTROLS, *_TURNING], _REPLACEMENT)
_TABLE |= {ord("\n"): "\n", ord("\t"): "\t"}


def harmless(text: str) -> str:
    """`text` with every control and direction mark but tab and line end replaced by U+FFFD."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def shortened(text: str, most: int) -> str:
    """At most `most` characters of `text`, the last of them an ellipsis where something was left out."""
    return text if len(text) <= most else text[: most - 1] + "…"
