"""Secrets are made once, whole, and given to whom they concern."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service.credentials import TokenCipher
from service.keys import KEYS, make_keys, retire, rotate


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("service", "bots"):
        (tmp_path / name).mkdir()
    return tmp_path / "service", tmp_path / "bots"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_every_part_finds_its_own_and_no_other(folders: tuple[Path, Path]) -> None:
    assert make_keys(folders) == list(KEYS)
    service, bots = map(contents, folders)
    assert set(service) == set(KEYS)
    assert bots == {name: service[name] for name in ("service_token", "link_secret")}
    assert len(set(service.values())) == len(service)
    assert all(len(secret) >= 32 for secret in service.values())
    TokenCipher((service["token_key"],))  # it is a key
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o440 for folder in folders for path in folder.iterdir())


def test_existing_keys_are_kept(folders: tuple[Path, Path]) -> None:
    make_keys(folders)
    before = contents(folders[0])
    (folders[0] / "link_secret").unlink()
    assert make_keys(folders) == ["link_secret"]
    after = contents(folders[0])
    assert after.pop("link_secret") != before.pop("link_secret")
    assert after == before
    assert contents(folders[1])["link_secret"] == contents(folders[0])["link_secret"]


def test_a_new_token_is_good_beside_the_old_one_until_that_is_retired(folders: tuple[Path, Path]) -> None:
    make_keys(folders)
    before = contents(folders[0])
    old = before["service_token"]
    assert rotate(folders) == 2
    new, *others = contents(folders[0])["service_token"].split("\n")
    assert others == [old] and new != old and len(new) >= 32
    assert contents(folders[1])["service_token"] == new, "bots show the newest"
    assert make_keys(folders) == [], "a start in between changes nothing"
    assert contents(folders[1])["service_token"] == new
    assert retire(folders) == 1
    assert contents(folders[0]) == {**before, "service_token": new}
    assert retire(folders) == 0
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o440 for folder in folders for path in folder.iterdir())


def test_nothing_is_retired_before_bots_have_the_newest(folders: tuple[Path, Path]) -> None:
    make_keys(folders)
    old = contents(folders[1])["service_token"]
    rotate(folders[:1])  # killed before it came to the bots
    assert contents(folders[1])["service_token"] == old
    retire(folders)
    assert contents(folders[1]) == {name: contents(folders[0])[name] for name in contents(folders[1])}
    assert contents(folders[1])["service_token"] != old


def test_no_secret_is_printed(folders: tuple[Path, Path]) -> None:
    words = [sys.executable, "-m", "service.keys", *map(str, folders)]
    for step, said in (
        ([], f"Created: {', '.join(KEYS)}\n"),
        ([], "Every secret exists already\n"),
        (["--rotate"], "Added a new service token; 2 are valid until --retire\n"),
        (["--retire"], "Service tokens removed: 1\n"),
    ):
        ended = subprocess.run([*words, *step], capture_output=True, text=True, check=True)
        assert ended.stdout == said
        secrets = [word for secret in contents(folders[0]).values() for word in secret.split()]
        assert not [secret for secret in secrets if secret in ended.stdout + ended.stderr]
