"""Encodes plain values as bytes and decodes them: tagged, little-endian, capped, never pickle. Standard library only.

A value is None, bool, int, float, complex, str, bytes, a tuple, a list, a dict with str keys, a Tensor or an Array.
Every length is checked against the available bytes before anything is allocated for it.
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
"""Supported element types and their sizes in bytes. A type's position is its code on the wire: only append."""

_NAMES = tuple(ITEM_BYTES)
_MAX_DIMENSIONS = 32
"""Dimensions of an array."""
_MAX_ELEMENTS = 1 << 40
"""Elements of an array, with empty sides counted as 1."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor as data, contiguous and little-endian."""

    dtype: str
    """A key of ITEM_BYTES."""
    shape: tuple[int, ...]
    data: bytes
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """A numpy array as data. Distinct from Tensor: returning one for the other is a wrong answer."""

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
    """Limits on an encoding."""

    total: int = 16 * 1024 * 1024
    """Maximum size, bytes."""
    depth: int = 32
    """Maximum nesting of containers."""
    items: int = 200_000
    """Maximum number of values, containers included."""


DEFAULT = Caps()
_LENGTH, _FLOAT, _COMPLEX, _LONG = (struct.Struct(form) for form in ("<I", "<d", "<dd", "<Q"))


class _Writer:
    """Encodes one value within the caps."""

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
    """Returns the size of an array, bytes. Raises ValueError for an unsupported element type or shape."""
    if dtype not in ITEM_BYTES:
        raise ValueError(f"{dtype} is not a supported element type")
    if len(shape) > _MAX_DIMENSIONS or any(side < 0 for side in shape):
        raise ValueError("a shape with a negative side or too many of them")
    # Next to a dimension of 0, the others could be anything, and numpy could not represent the shape.
    if math.prod(max(side, 1) for side in shape) > _MAX_ELEMENTS:
        raise ValueError(f"a shape of more than {_MAX_ELEMENTS} elements")
    return math.prod(shape) * ITEM_BYTES[dtype]


class Reader:
    """Decodes one value within the caps."""

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
            b"(": lambda depth: tuple(self.items_of(depth)),
            b"[": lambda depth: list(self.items_of(depth)),
            b"{": self.mapping,
            b"t": lambda _: self.tensor(),
            b"n": lambda _: self.array(),
        }

    def wrong(self, what: str) -> ValueError:
        return ValueError(f"byte {self.at}: {what}")

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise self.wrong(f"{count} bytes are announced, {len(self.data) - self.at} follow")
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
            raise self.wrong(f"{tag!r} is not a tag")
        return read(depth)

    def count(self, min_bytes: int) -> int:
        """Reads a number of items, each of which takes at least `min_bytes` bytes."""
        count = int(_LENGTH.unpack(self.take(4))[0])
        if count * min_bytes > len(self.data) - self.at:
            raise self.wrong(f"{count} items cannot be in {len(self.data) - self.at} bytes")
        return count

    def items_of(self, depth: int) -> Iterator[Value]:
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

    def block_header(self) -> tuple[str, tuple[int, ...], int, int]:
        """Reads element type, shape and flags of an array. Returns its size in bytes as the last item."""
        code, flags, sides = self.take(3)
        if code >= len(_NAMES) or flags > 1:
            raise self.wrong("an element type or flag that does not exist")
        if sides > _MAX_DIMENSIONS:
            raise self.wrong(f"{sides} dimensions")
        shape = tuple(int(side) for (side,) in _LONG.iter_unpack(self.take(8 * sides)))
        try:
            size = _block_bytes(_NAMES[code], shape)
        except ValueError as problem:
            raise self.wrong(str(problem)) from None
        return _NAMES[code], shape, flags, size

    def tensor(self) -> Tensor:
        dtype, shape, flags, size = self.block_header()
        return Tensor(dtype, shape, self.take(size), bool(flags))

    def array(self) -> Array:
        dtype, shape, flags, size = self.block_header()
        data = self.take(size)
        if flags:
            raise self.wrong("an array cannot require a gradient")
        return Array(dtype, shape, data)


def encode(value: Value, caps: Caps = DEFAULT) -> bytes:
    """Encodes a value. Raises ValueError for unsupported types and beyond `caps`."""
    writer = _Writer(caps)
    writer.value(value, 0)
    return bytes(writer.out)


def decode(data: bytes, caps: Caps = DEFAULT) -> Value:
    """Decodes the output of `encode`. Raises ValueError with the offset for anything else; safe on untrusted bytes."""
    if len(data) > caps.total:
        raise ValueError(f"byte 0: {len(data)} bytes, more than {caps.total}")
    reader = Reader(data, caps)
    value = reader.value(0)
    if reader.at != len(data):
        raise reader.wrong("bytes after the end")
    return value


def join(entries: Iterable[bytes]) -> bytes:
    """Concatenates encodings, each after its 4-byte length, as in an Outcome's `results`."""
    return b"".join(_LENGTH.pack(len(entry)) + entry for entry in entries)


def split(data: bytes, at_most: int | None = None) -> list[bytes]:
    """Splits the output of `join`. Raises ValueError if the last entry is incomplete or there are too many."""
    entries: list[bytes] = []
    at = 0
    while at < len(data):
        if len(entries) == at_most:
            raise ValueError(f"byte {at}: more than {at_most} entries")
        if at + 4 > len(data):
            raise ValueError(f"byte {at}: a length of {len(data) - at} bytes")
        (length,) = _LENGTH.unpack_from(data, at)
        at += 4
        if length > len(data) - at:
            raise ValueError(f"byte {at}: {length} bytes are announced, {len(data) - at} follow")
        entries.append(data[at : at + length])
        at += length
    return entries


# Text from untrusted programs

_REPLACEMENT = 0xFFFD
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
# Characters that change the direction of the text after them, so that a line reads differently than it is.
_BIDIRECTIONAL = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_REPLACEMENTS: dict[int, int | str] = dict.fromkeys([*_CONTROLS, *_BIDIRECTIONAL], _REPLACEMENT)
_REPLACEMENTS |= {ord("\n"): "\n", ord("\t"): "\t"}


def sanitized(text: str) -> str:
    """Replaces control and direction characters by U+FFFD, except tabs and line ends, for terminals and chats."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_REPLACEMENTS)


def shortened(text: str, max_length: int) -> str:
    """Shortens text to `max_length` characters, ending in an ellipsis if something was left out."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"
