"""Secrets are made once, whole, and given to whom they concern."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service.keys import KEYS, make_keys
from service.vault import Vault


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
    Vault((service["token_key"],))  # it is a key
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o440 for folder in folders for path in folder.iterdir())


def test_what_is_there_stays(folders: tuple[Path, Path]) -> None:
    make_keys(folders)
    before = contents(folders[0])
    (folders[0] / "link_secret").unlink()
    assert make_keys(folders) == ["link_secret"]
    after = contents(folders[0])
    assert after.pop("link_secret") != before.pop("link_secret")
    assert after == before
    assert contents(folders[1])["link_secret"] == contents(folders[0])["link_secret"]


def test_no_secret_is_printed(folders: tuple[Path, Path]) -> None:
    words = [sys.executable, "-m", "service.keys", *map(str, folders)]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said.stdout == f"made: {', '.join(KEYS)}\n"
    assert not [secret for secret in contents(folders[0]).values() if secret in said.stdout + said.stderr]
