"""How much of a stranger's document is read: each bound with a document just inside and one beyond."""

from __future__ import annotations

import random
import stat
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from questions import read_bank, read_path
from questions.formats import MOST_BYTES, anki, draft, read_import
from tests.questions.formats.test_anki import collection, package

MiB = 2**20


def filled(start: str) -> Callable[[int], bytes]:
    """Returns a document padded to this many bytes."""
    return lambda size: (start + "x" * (size - len(start))).encode()


def with_options(count: int) -> bytes:
    """Returns a choice question with this many options."""
    options = "|".join(f"option {number}" for number in range(count))
    return f'question,options,correct\nWhat?,"{options}",option 1\n'.encode()


def with_prompt(length: int) -> bytes:
    return f"question,answer\n{'What ' * (length // 5)}{'?' * (length % 5)},That\n".encode()


def with_entries(count: int) -> bytes:
    """Returns a package that contains this many files, all the same."""
    data = package(collection())
    start, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    record = data[start : data.index(b"PK\x01\x02", start + 4)]
    named = record * count
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(named), start, 0)
    assert len(data[end:]) == len(tail)
    return data[:start] + named + tail


def with_ratio(ratio: int) -> bytes:
    """Returns a package whose invalid collection unpacks to about this many times its size."""
    size = 8 * MiB
    noise = random.Random(7).randbytes(size // ratio - len(package(bytes(size))))
    return package(noise + bytes(size - len(noise)))


BOUNDS: dict[str, tuple[str, Callable[[int], bytes], int, int, str]] = {
    "a GIFT document": ("a.gift", filled("::a::What? {=b ~c}\n\n// "), MOST_BYTES, MOST_BYTES + 1, "Q602"),
    "options": ("a.csv", with_options, draft.MOST_OPTIONS, draft.MOST_OPTIONS + 1, "Q607"),
    "a text": ("a.csv", with_prompt, draft.LONGEST_TEXT, draft.LONGEST_TEXT + 1, "Q603"),
    "files of a package": ("a.apkg", with_entries, 100_000, 100_001, "Q602"),
    "a package's ratio": ("a.apkg", with_ratio, anki.MOST_RATIO - 60, anki.MOST_RATIO + 60, "Q602"),
}
"""Name of the document, how one of a size is made, a size inside and one beyond, and what is found then."""


@pytest.mark.parametrize("name", BOUNDS)
def test_each_limit_has_the_documented_value(name: str) -> None:
    called, make, inside, beyond, code = BOUNDS[name]
    found = [{finding.code for finding in read_bank(make(size), name=called).findings} for size in (inside, beyond)]
    assert [code in codes for codes in found] == [False, True], found


@pytest.mark.parametrize("name", ["a.md", "a"])
def test_markdown_is_left_to_its_own_reader_up_to_the_same_size(name: str) -> None:
    document = bytes(MOST_BYTES).replace(b"\x00", b"x")
    assert read_import(document, name) is None
    assert [finding.code for finding in read_bank(document + b"x", name=name).findings] == ["Q602"]


@pytest.mark.parametrize("name", ["../../collection.anki2", "/etc/collection.anki2", "a\\..\\..\\x", "C:\\x"])
def test_a_name_in_a_package_leads_nowhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    reading = read_bank(package(collection(), name), name="a.apkg")
    assert [finding.message for finding in reading.findings] == ["the package has no collection"]
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]


def test_a_link_in_a_package_is_not_followed() -> None:
    entry = zipfile.ZipInfo("collection.anki2")
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr(entry, "/etc/passwd")
    reading = read_bank(data.getvalue(), name="a.apkg")
    assert [finding.message for finding in reading.findings] == ["the collection is not an SQLite file"]


def test_a_link_out_of_a_folder_is_left_alone(tmp_path: Path) -> None:
    folder, secret = tmp_path / "bank", tmp_path / "secret.md"
    folder.mkdir()
    for path in (secret, folder / "own.md"):
        path.write_text("### 1. What?\n\n**Answer:** It.\n", encoding="utf-8")
    (folder / "out.md").symlink_to(secret)
    (folder / "within.md").symlink_to(folder / "own.md")
    (folder / "endless.md").symlink_to("/dev/zero")
    assert [Path(reading.source.name).name for reading in read_path(folder)] == ["own.md", "within.md"]


def test_an_endless_file_is_read_only_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.gift"
    with path.open("wb") as sparse:
        sparse.truncate(2**40)
    (reading,) = read_path(path)
    assert [finding.code for finding in reading.findings] == ["Q602"]
