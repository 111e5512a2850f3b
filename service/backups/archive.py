"""The file of a backup: a zip of tables' rows and a manifest. What is read is believed only once it was checked."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from types import TracebackType
from typing import IO, Annotated, Literal, Self
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.process import Refused
from service.store.snapshots import Buffer

MANIFEST = "manifest.json"
LAYOUT = 1
"""Of the file itself. A newer one has another number."""

MOST_MANIFEST = 1 << 20
MOST_TABLES = 500
MOST_RATIO = 250
"""Rows of a real database never pack so well: whatever claims to is made to fill a disk."""
SLACK = 64 << 20
BLOCK = 1 << 18

Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
Tell = Callable[[str, int, int], None]
"""What is at work, how much of it is done, and of how much; 0 where nobody knows."""


class BackupWrong(Refused):
    """The file is no backup that can be restored; the message says why and what to do."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(_Strict):
    """The rows of one table, as lines of PostgreSQL's COPY."""

    table: Name
    columns: tuple[Name, ...] = Field(min_length=1, max_length=500)
    rows: int = Field(ge=0)
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @property
    def member(self) -> str:
        """Its name in the zip."""
        return f"tables/{self.table}.copy"


class Manifest(_Strict):
    """What a backup holds, in the order in which it can be put back."""

    format: Literal["dailygrad backup"] = "dailygrad backup"
    layout: int = LAYOUT
    version: str = Field(max_length=100)
    """Of Dailygrad."""
    postgres: str = Field(max_length=100)
    revision: str = Field(pattern=r"^[0-9a-z_]{1,32}$")
    taken_at: datetime
    parts: tuple[Part, ...] = Field(max_length=MOST_TABLES)
    sequences: dict[str, Annotated[int, Field(ge=1, lt=2**63)]] = Field(max_length=MOST_TABLES)

    @property
    def rows(self) -> int:
        """Of all tables together."""
        return sum(part.rows for part in self.parts)

    @property
    def size(self) -> int:
        """Of all rows together, unpacked."""
        return sum(part.size for part in self.parts)


class Packing:
    """Writes a backup from beginning to end, also where nobody can go back, such as into a pipe. Use it with `with`."""

    def __init__(self, file: IO[bytes], at: datetime) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._at = (at.year, at.month, at.day, at.hour, at.minute, at.second)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What was broken off has no manifest, so nobody takes it for a backup.
        with suppress(OSError, ValueError):
            self._zip.close()

    def add(self, table: str, columns: tuple[str, ...], rows: Iterable[Buffer], tell: Tell) -> Part:
        """The rows of one table, each a line."""
        told = hashlib.sha256()
        count = size = 0
        part = Part(table=table, columns=columns, rows=0, size=0, sha256=told.hexdigest())
        with self._zip.open(self._info(part.member), "w", force_zip64=True) as member:
            for block, lines in _gathered(rows):
                member.write(block)
                told.update(block)
                count += lines
                size += len(block)
                tell(table, size, 0)
        return part.model_copy(update={"rows": count, "size": size, "sha256": told.hexdigest()})

    def finish(self, manifest: Manifest) -> None:
        """The manifest, and the end of the file."""
        self._zip.writestr(self._info(MANIFEST), manifest.model_dump_json(indent=1))
        self._zip.close()

    def _info(self, name: str) -> ZipInfo:
        info = ZipInfo(name, self._at)
        info.compress_type = ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        return info


def _gathered(rows: Iterable[Buffer]) -> Iterator[tuple[bytes, int]]:
    """Blocks worth packing, and how many rows are in each."""
    held, lines = bytearray(), 0
    for row in rows:
        held += row
        lines += 1
        if len(held) >= BLOCK:
            yield bytes(held), lines
            held, lines = bytearray(), 0
    if held:
        yield bytes(held), lines


class Archive:
    """A backup that is read. Opening it looks at its outline alone; `check` reads all of it."""

    def __init__(self, file: IO[bytes]) -> None:
        """Raises BackupWrong."""
        with _damage():
            size = _size_of(file)
            self._zip = ZipFile(file)
            self.manifest = self._manifest()
            self._compare_outline(size)

    def blocks(self, part: Part) -> Iterator[bytes]:
        """The rows of one table. Raises BackupWrong when they are not those the manifest tells of."""
        told = hashlib.sha256()
        rows = size = 0
        last = b"\n"
        with _damage(), self._zip.open(part.member) as member:
            while block := member.read(BLOCK):
                size += len(block)
                if size > part.size:
                    break
                told.update(block)
                rows += block.count(b"\n")
                last = block[-1:]
                yield block
        if (size, rows, told.hexdigest(), last) != (part.size, part.rows, part.sha256, b"\n"):
            raise BackupWrong(_altered(f"the rows of {part.table} are not those it was made with"))

    def check(self, tell: Tell) -> None:
        """Read every row. Raises BackupWrong."""
        done = 0
        for part in self.manifest.parts:
            for block in self.blocks(part):
                done += len(block)
                tell("checking the file", done, self.manifest.size)

    def _manifest(self) -> Manifest:
        names = self._zip.namelist()
        if MANIFEST not in names:
            raise BackupWrong("this is a zip, but no backup of Dailygrad: name a file that `dailygrad backup` made")
        info = self._zip.getinfo(MANIFEST)
        if info.file_size > MOST_MANIFEST:
            raise BackupWrong(_altered("its manifest is larger than any that we make"))
        with self._zip.open(info) as member:
            text = member.read(MOST_MANIFEST + 1)
        return _read_manifest(text)

    def _compare_outline(self, size: int) -> None:
        parts = self.manifest.parts
        wanted = sorted([MANIFEST, *(part.member for part in parts)])
        if sorted(self._zip.namelist()) != wanted or len(set(wanted)) != len(wanted):
            raise BackupWrong(_altered("its tables are not those its manifest tells of"))
        if any(info.flag_bits & 1 or info.compress_type != ZIP_DEFLATED for info in self._zip.infolist()):
            raise BackupWrong(_altered("it is packed in a way that we never pack"))
        if self.manifest.size > size * MOST_RATIO + SLACK:
            raise BackupWrong(
                f"the file has {size:,} bytes and claims to unpack to {self.manifest.size:,}, which no backup does: "
                "it was made to fill a disk"
            )


def _read_manifest(text: bytes) -> Manifest:
    try:
        found = Manifest.model_validate_json(text)
    except ValidationError:
        newer = _Newer.of(text)
        if newer is not None:
            raise BackupWrong(newer) from None
        raise BackupWrong(_altered("its manifest cannot be read")) from None
    if found.layout != LAYOUT:
        raise BackupWrong(_newer(found.version))
    return found


class _Newer(BaseModel):
    """As much of a manifest as every version writes."""

    format: Literal["dailygrad backup"]
    layout: int = Field(gt=LAYOUT)
    version: str = Field(default="", max_length=100)

    @classmethod
    def of(cls, text: bytes) -> str | None:
        """What is said of a layout that is newer than this program; None where it is something else."""
        try:
            return _newer(cls.model_validate_json(text).version)
        except ValidationError:
            return None


def _newer(version: str) -> str:
    by = "".join(sign for sign in version if sign.isprintable())[:40] or "one unknown"
    return f"the backup was made by a newer version of Dailygrad ({by}): update this one first"


def _altered(what: str) -> str:
    return f"the backup is damaged or was altered: {what}; take another copy of it, or another backup"


def _size_of(file: IO[bytes]) -> int:
    """How long the file is, once its end is that of a zip whose list of contents is no longer than any of ours."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size))
    end = file.read(_END.size)
    if size < _END.size or end[:4] != b"PK\x05\x06":
        file.seek(0)
        if file.read(4) == b"PK\x03\x04":
            raise BackupWrong(_altered("it ends too early"))
        raise BackupWrong("this is no backup: name a file that `dailygrad backup` made")
    listed = [_END.unpack(end)[5]]
    # A second list, for very large files, stands before the end and counts in its place.
    file.seek(max(0, size - _END.size - _LOCATOR.size))
    locator = file.read(_LOCATOR.size)
    if locator[:4] == b"PK\x06\x07":
        file.seek(max(0, size - _END.size - _LOCATOR.size - _END64.size))
        record = file.read(_END64.size)
        listed = [_END64.unpack(record)[8]] if record[:4] == b"PK\x06\x06" else [MOST_MANIFEST + 1]
    if max(listed) > MOST_MANIFEST:
        raise BackupWrong(_altered("its list of contents is longer than any that we make"))
    return size


_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")


@contextmanager
def _damage() -> Iterator[None]:
    """Whatever a damaged zip makes the library raise, as one sentence."""
    try:
        yield
    except OSError as problem:
        raise BackupWrong(f"the backup cannot be read: {problem.strerror or problem}") from None
    except (BadZipFile, zlib.error, EOFError, struct.error, KeyError, ValueError, RuntimeError) as problem:
        raise BackupWrong(_altered(f"{str(problem).strip('. ') or 'it ends too early'}")) from None
