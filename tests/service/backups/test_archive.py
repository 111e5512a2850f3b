"""The file of a backup, read by somebody who trusts nobody: whatever was done to it is said in one sentence."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.backups.archive import MANIFEST, Archive, BackupWrong, Manifest, Packing
from service.backups.restoring import refuse_unknown
from tests.service.backups.conftest import quiet

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
ROWS = {
    "bank": [b"1\tours\n", b"2\ttheirs\n"],
    "answer": [b"%d\ta\\tb\n" % number for number in range(500)],
    "card": [],
}


def packed(**changed: object) -> bytes:
    """A backup of three tables, its manifest changed as said."""
    file = io.BytesIO()
    packing = Packing(file, AT)
    parts = tuple(packing.add(name, ("id", "name"), rows, quiet) for name, rows in ROWS.items())
    made = Manifest(
        version="0.1.0", postgres="16.4", revision="0007", taken_at=AT, parts=parts, sequences={"bank.id": 2}
    )
    packing.finish(made.model_copy(update=changed))
    return file.getvalue()


GOOD = packed()


def read(content: bytes) -> Manifest:
    archive = Archive(io.BytesIO(content))
    archive.check(quiet)
    return archive.manifest


def remade(content: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """The same zip with other things in it."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
    return file.getvalue()


def manifest(members: dict[str, bytes], **changed: object) -> None:
    members[MANIFEST] = json.dumps({**json.loads(members[MANIFEST]), **changed}).encode()


def test_what_was_packed_is_read() -> None:
    found = Archive(io.BytesIO(GOOD))
    assert [part.table for part in found.manifest.parts] == list(ROWS)
    assert [part.rows for part in found.manifest.parts] == [2, 500, 0]
    for part in found.manifest.parts:
        assert b"".join(found.blocks(part)) == b"".join(ROWS[part.table])
    with zipfile.ZipFile(io.BytesIO(GOOD)) as opened:
        assert opened.testzip() is None


@given(st.integers(0, len(GOOD) - 1))
def test_a_file_that_was_cut_is_refused(length: int) -> None:
    with pytest.raises(BackupWrong):
        read(GOOD[:length])


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_byte_that_was_altered_is_noticed_or_changes_nothing(at: int, by: int) -> None:
    altered = bytearray(GOOD)
    altered[at] ^= by
    try:
        found = Archive(io.BytesIO(bytes(altered)))
        rows = [b"".join(found.blocks(part)) for part in found.manifest.parts]
    except BackupWrong as wrong:
        assert str(wrong)
        assert "\n" not in str(wrong)
    else:
        # Such as an instant within the zip: no row and no word of the manifest is another.
        assert found.manifest == read(GOOD)
        assert rows == [b"".join(lines) for lines in ROWS.values()]


@given(st.binary(max_size=400))
def test_no_other_file_is_taken_for_a_backup(content: bytes) -> None:
    with pytest.raises(BackupWrong):
        read(content)
    with pytest.raises(BackupWrong):
        read(content + GOOD[-22:])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda members: members.clear(), "no backup of Dailygrad"),
        (lambda members: members.update({MANIFEST: b"{}"}), "its manifest cannot be read"),
        (lambda members: members.update({MANIFEST: b" " * (2 << 20)}), "larger than any"),
        (lambda members: members.update({"../../etc/passwd": b"x"}), "its tables are not those"),
        (lambda members: members.pop("tables/answer.copy"), "its tables are not those"),
        (lambda members: members.update({"tables/bank.copy": b"1\tours\n2\tTheirs\n"}), "the rows of bank"),
        (lambda members: members.update({"tables/bank.copy": b"1\tours\n"}), "the rows of bank"),
        (lambda members: members.update({"tables/bank.copy": b"x" * (30 << 20)}), "the rows of bank"),
        (lambda members: manifest(members, layout=2, version="9.1", more=[1]), r"newer version of Dailygrad \(9.1\)"),
        (lambda members: manifest(members, layout=2, version="\n\x1b[31m"), r"newer version of Dailygrad \(\[31m\)"),
        (lambda members: manifest(members, sequences={"bank.id": -1}), "its manifest cannot be read"),
        (lambda members: manifest(members, taken_at="yesterday"), "its manifest cannot be read"),
        (lambda members: manifest(members, parts=[{"table": 'x"; drop'}]), "its manifest cannot be read"),
    ],
)
def test_one_sentence_says_what_is_wrong(change: Callable[[dict[str, bytes]], object], said: str) -> None:
    with pytest.raises(BackupWrong, match=said) as wrong:
        read(remade(GOOD, change))
    assert "\n" not in str(wrong.value)


def test_a_file_that_claims_to_unpack_to_more_than_any_disk_has_is_not_unpacked() -> None:
    parts = json.loads(Manifest.model_dump_json(read(GOOD)))["parts"]
    parts[0]["size"] = 1 << 50
    with pytest.raises(BackupWrong, match="made to fill a disk"):
        Archive(io.BytesIO(remade(GOOD, lambda members: manifest(members, parts=parts))))


def test_a_list_of_contents_that_fills_the_memory_is_not_read() -> None:
    end = bytearray(GOOD[-22:])
    end[12:16] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(BackupWrong, match="list of contents"):
        Archive(io.BytesIO(GOOD[:-22] + bytes(end)))


def test_a_database_of_a_newer_version_is_told_of() -> None:
    with pytest.raises(
        BackupWrong, match=r"of a database at 9999, and this version knows none beyond .*update Dailygrad"
    ):
        refuse_unknown(read(packed(revision="9999")))
    refuse_unknown(read(packed(revision="0001")))


class Pipe(io.RawIOBase):
    """Where one can only go on, and what has gone is gone."""

    def __init__(self) -> None:
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        return len(data)


def test_memory_stays_flat_however_much_is_packed_and_read(tmp_path: Any) -> None:
    def rows() -> Iterator[bytes]:
        for number in range(20_000):
            yield (b"%09d" % (number * 7919 % 10**9)) * 100 + b"\n"

    tracemalloc.start()
    try:
        pipe = Pipe()
        with Packing(pipe, AT) as packing:  # type: ignore[arg-type]
            packing.add("answer", ("id",), rows(), quiet)
        with (tmp_path / "backup").open("w+b") as file:
            packing = Packing(file, AT)
            part = packing.add("answer", ("id",), rows(), quiet)
            packing.finish(Manifest(version="1", postgres="1", revision="1", taken_at=AT, parts=(part,), sequences={}))
            Archive(file).check(quiet)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert part.size > 18_000_000
    assert pipe.size > 0
    assert most < 6_000_000
