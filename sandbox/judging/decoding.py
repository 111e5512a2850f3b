"""Decodes an answer's result as far as it has the expected structure, so that its cost is bounded by what is expected.

A right result is decoded whole. In a wrong one, decoding stops at the first part of another type, length, shape or
dtype: that part is left without its content, and everything after it is taken to be as expected. A comparison then
finds the same difference as in the whole result.
"""

from __future__ import annotations

from sandbox.values import Array, Caps, Reader, Tensor, Value

_TYPES: dict[bytes, type] = {
    b"N": type(None),
    b"T": bool,
    b"F": bool,
    b"i": int,
    b"f": float,
    b"c": complex,
    b"s": str,
    b"b": bytes,
    b"(": tuple,
    b"[": list,
    b"{": dict,
    b"t": Tensor,
    b"n": Array,
}
_MAX_OTHER_ITEMS = 1000
"""Number of values read in search of the names of unexpected keys."""
_MAX_LENGTH = 1_000_000
"""A wrong length beyond this counts as this."""


class ResultReader(Reader):
    """Reads one entry of a run's results: a value that was returned, or an exception."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, Caps(total=len(data), items=_MAX_OTHER_ITEMS))
        self.stopped = False
        """Whether a difference was found, so that the rest was not read."""

    def start(self) -> str:
        """Reads how the call ended: `ok`, `raised` or `unsupported`. Raises ValueError for malformed data."""
        if self.take(1) != b"(":
            raise self.wrong("neither a result nor an exception")
        count = self.count(1)
        kind = self.text() if self.take(1) == b"s" else ""
        if {"ok": 2, "raised": 3, "unsupported": 3}.get(kind) != count:
            raise self.wrong("neither a result nor an exception")
        return kind

    def string(self) -> str:
        """Reads a string. Raises ValueError for anything else."""
        if self.take(1) != b"s":
            raise self.wrong("no text")
        return self.text()

    def finish(self) -> None:
        """Raises ValueError unless everything was read, or reading stopped at a difference."""
        if not self.stopped and self.at != len(self.data):
            raise self.wrong("bytes after the end")

    def like(self, expected: Value, depth: int = 1) -> Value:
        """Reads a value as far as it has the structure of the expected one. Raises ValueError for malformed data."""
        tag = self.take(1)
        kind = _TYPES.get(tag)
        if kind is None:
            raise self.wrong(f"{tag!r} is not a tag")
        if kind in (Tensor, Array):
            return self._array_like(expected, kind)
        self.stopped = kind is not type(expected)
        if kind not in (tuple, list, dict):
            return self.readers[tag](depth)
        if self.stopped:
            return () if kind is tuple else [] if kind is list else {}
        if isinstance(expected, dict):
            return self._dict_like(expected, depth)
        items = self._items_like(expected, depth) if isinstance(expected, (tuple, list)) else []
        return tuple(items) if kind is tuple else items

    def _array_like(self, expected: Value, kind: type) -> Value:
        dtype, shape, flags, size = self.block_header()
        self.stopped = (
            not isinstance(expected, (Tensor, Array))
            or type(expected) is not kind
            or (expected.dtype, expected.shape) != (dtype, shape)
        )
        data = b"" if self.stopped else self.take(size)
        if kind is Array and flags:
            raise self.wrong("an array cannot require a gradient")
        return Tensor(dtype, shape, data, bool(flags)) if kind is Tensor else Array(dtype, shape, data)

    def _items_like(self, expected: tuple[Value, ...] | list[Value], depth: int) -> list[Value]:
        count = self.count(1)
        if count != len(expected):
            self.stopped = True
            return [None] * min(count, _MAX_LENGTH)
        items: list[Value] = []
        for one in expected:
            items.append(one if self.stopped else self.like(one, depth + 1))
        return items

    def _dict_like(self, expected: dict[str, Value], depth: int) -> Value:
        found: dict[str, Value] = {}
        strange = False
        for _ in range(self.count(6)):
            key = self.string()
            if key in found:
                raise self.wrong("the same key twice")
            if key in expected and not strange:
                found[key] = self.like(expected[key], depth + 1)
                if self.stopped:
                    return {**expected, **found}
            else:
                strange, found[key] = True, None
                try:
                    self.value(depth + 1)
                except ValueError:
                    break  # more than is worth reading for a name
        if found.keys() != expected.keys():
            self.stopped = True
        return found
