"""Secrets are created once, whole, and each part gets only those that it needs."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import pytest
from cryptography.fernet import Fernet

from service.credentials import TokenCipher, parse_bot_tokens
from service.keys import Folders, make_keys, retire, rotate, set_token_keys

ALL = [
    "postgres_password",
    "token_key",
    "link_secret",
    "monitor_password",
    "service_token",
    "discord_token",
    "web_token",
]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("store", "service", "database", "monitor", "discord", "web"):
        (tmp_path / name).mkdir()
    bots = {name: tmp_path / name for name in ("discord", "web")}
    return Folders(tmp_path / "store", tmp_path / "service", tmp_path / "database", tmp_path / "monitor", bots)


def contents(folder: Path | None) -> dict[str, str]:
    assert folder is not None
    return {path.name: path.read_text() for path in folder.iterdir()}


def bots_of(folders: Folders) -> dict[str, list[str]]:
    """Returns the tokens of bots that the service accepts, by platform, newest first."""
    found: dict[str, list[str]] = {}
    for one in parse_bot_tokens(contents(folders.service)["bot_tokens"]):
        found.setdefault(one.platform, []).append(one.token)
    return found


def test_every_part_gets_what_it_needs_and_nothing_else(folders: Folders) -> None:
    assert make_keys(folders) == ALL
    store = contents(folders.store)
    assert set(store) == set(ALL)
    assert len(set(store.values())) == len(store) and all(len(secret) >= 32 for secret in store.values())
    TokenCipher((store["token_key"],))  # it is a key
    service = contents(folders.service)
    assert service.pop("bot_tokens") == f"discord={store['discord_token']}\nweb={store['web_token']}"
    assert service == {name: store[name] for name in ("postgres_password", "token_key", "service_token")}
    assert contents(folders.database) == {"postgres_password": store["postgres_password"]}
    assert contents(folders.monitor) == {"monitor_password": store["monitor_password"]}
    for bot, folder in folders.bots.items():
        assert contents(folder) == {"service_token": store[f"{bot}_token"], "link_secret": store["link_secret"]}
    written = [path for path in folders.store.parent.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o440}


def test_missing_folders_are_created_for_their_owner_and_group(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "keys/store", tmp_path / "keys/service", bots={"web": tmp_path / "keys/web"})
    make_keys(folders)
    assert contents(folders.bots["web"])["link_secret"] == contents(folders.store)["link_secret"]
    assert {stat.S_IMODE(folder.stat().st_mode) & 0o007 for folder in (folders.store, folders.service)} == {0}


def test_existing_keys_are_kept(folders: Folders) -> None:
    make_keys(folders)
    before = contents(folders.store)
    (folders.store / "link_secret").unlink()
    assert make_keys(folders) == ["link_secret"]
    after = contents(folders.store)
    assert after.pop("link_secret") != before.pop("link_secret")
    assert after == before
    assert contents(folders.bots["web"])["link_secret"] == contents(folders.store)["link_secret"]


def test_new_tokens_are_valid_beside_the_old_ones_until_those_are_retired(folders: Folders) -> None:
    make_keys(folders)
    old, old_bots = contents(folders.service)["service_token"], bots_of(folders)
    assert rotate(folders) == 2
    new, *others = contents(folders.service)["service_token"].split("\n")
    assert others == [old] and new != old and len(new) >= 32
    for bot, tokens in bots_of(folders).items():
        assert tokens[1:] == old_bots[bot] and tokens[0] != tokens[1]
        assert contents(folders.bots[bot])["service_token"] == tokens[0], "bots send the newest"
    rotated = contents(folders.service)
    assert make_keys(folders) == [], "a start in between changes nothing"
    assert contents(folders.service) == rotated
    newest = {bot: tokens[:1] for bot, tokens in bots_of(folders).items()}
    assert retire(folders) == 1
    assert contents(folders.service)["service_token"] == new
    assert bots_of(folders) == newest
    assert retire(folders) == 0


def test_nothing_is_retired_before_bots_have_the_newest(folders: Folders) -> None:
    make_keys(folders)
    old = contents(folders.bots["web"])["service_token"]
    rotate(folders)
    (folders.bots["web"] / "service_token").unlink()
    (folders.bots["web"] / "service_token").write_text(old)  # the command was killed before it came to the bots
    retire(folders)
    assert [contents(folders.bots["web"])["service_token"]] == bots_of(folders)["web"] != [old]


def test_a_rotation_that_is_cut_short_is_finished_by_the_next_start(folders: Folders) -> None:
    make_keys(folders)
    before = contents(folders.service)
    rotate(Folders(folders.store, folders.service.parent / "web", bots=folders.bots))  # the service got nothing
    make_keys(folders)
    assert contents(folders.service)["service_token"].endswith(f"\n{before['service_token']}")


def test_no_bot_has_a_token_before_the_service_accepts_it(folders: Folders) -> None:
    make_keys(folders)
    web = folders.bots["web"]
    rmtree(web)
    web.write_text("a file in its place")
    with pytest.raises(OSError):
        rotate(folders)
    tokens = contents(folders.bots["discord"])["service_token"]
    assert tokens == bots_of(folders)["discord"][0], "the rotation had begun"


def test_a_disk_that_is_full_leaves_the_secrets_of_before(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(descriptor: int, mode: str) -> Full:
        os.close(descriptor)
        return Full()

    make_keys(folders)
    before = contents(folders.store)
    monkeypatch.setattr(os, "fdopen", opened)
    with pytest.raises(OSError, match="No space left"):
        rotate(folders)
    assert {name: text for name, text in contents(folders.store).items() if not name.startswith(".")} == before


def test_the_key_of_another_machine_is_taken_and_kept(folders: Folders) -> None:
    make_keys(folders)
    before = contents(folders.store)
    theirs = Fernet.generate_key().decode()
    for given, kept in (
        (f"{theirs}\n", theirs),
        (f"{before['token_key']},\n{theirs}", f"{before['token_key']},{theirs}"),
    ):
        assert set_token_keys(folders, given) == len(kept.split(","))
        assert contents(folders.store) == before | {"token_key": kept}
        assert contents(folders.service)["token_key"] == kept
        assert make_keys(folders) == []
        assert contents(folders.service)["token_key"] == kept
    for wrong in ("", "\n", "not a key", f"{theirs},short"):
        with pytest.raises(ValueError, match="key"):
            set_token_keys(folders, wrong)
    assert contents(folders.store)["token_key"] == f"{before['token_key']},{theirs}"


@pytest.mark.slow
def test_no_secret_is_printed_and_a_wrong_platform_is_named(folders: Folders) -> None:
    words = [sys.executable, "-m", "service.keys", str(folders.store), "--service", str(folders.service)]
    words += ["--database", str(folders.database), "--monitor", str(folders.monitor)]
    words += [word for bot, folder in folders.bots.items() for word in ("--bot", f"{bot}={folder}")]
    for step, said in (
        ([], f"Created: {', '.join(ALL)}\n"),
        ([], "Every secret exists already\n"),
        (["--rotate"], "Added new tokens; 2 of each are valid until --retire\n"),
        (["--retire"], "Older tokens removed: 1 of each\n"),
    ):
        ended = subprocess.run([*words, *step], capture_output=True, text=True, check=True)
        assert ended.stdout == said
        secrets = [word for secret in contents(folders.store).values() for word in secret.split()]
        assert not [secret for secret in secrets if secret in ended.stdout + ended.stderr]
    key = Fernet.generate_key().decode()
    for given, status, said in (
        (key, 0, "Keys of stored tokens: 1. Restart"),
        (f"x{key}", 2, "standard input has no key"),
    ):
        ended = subprocess.run([*words, "--token-key"], input=given, capture_output=True, text=True, check=False)
        assert ended.returncode == status and said in ended.stdout + ended.stderr
        assert key not in ended.stdout + ended.stderr
    wrong = subprocess.run([*words, "--bot", "teams=/tmp"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "'teams=/tmp' is not PLATFORM=FOLDER" in wrong.stderr
    words[3] = str(folders.store / "token_key")
    wrong = subprocess.run(words, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith(f"service.keys: {words[3]}"), wrong.stderr
    assert "Traceback" not in wrong.stderr
