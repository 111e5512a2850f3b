"""`python -m service.keys STORE --service FOLDER --database FOLDER --monitor FOLDER --bot PLATFORM=FOLDER...`: creates
the secrets that the parts of one deployment share. Prints no secret.

STORE keeps every secret and is mounted nowhere else; each other folder gets what its part needs. Missing folders are
created, and existing secrets are kept: to change one, delete its file in STORE and run this again. PostgreSQL keeps the
password of its first start; docs/operating.md says how to change that.

The tokens can be rotated while everything runs, because processes watch their files: `--rotate` adds new ones, which
bots and services send from then on; `--retire` makes the service refuse all but the newest. Wait a quarter of an hour
in between: link codes made with the old token stay valid that long. `dailygrad run` needs no rotation: it generates a
token at each start and stores none.

`--token-key` reads from standard input the keys that encrypt stored tokens, newest first and separated by commas: those
of another machine whose backup is restored here, or one more to change them. Services use them when they start again.
"""

from __future__ import annotations

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from service.credentials import KEY_COMMAND, PLATFORMS, TokenCipher, parse_tokens

ROTATED = "service_token"
"""Name of the secret that `--rotate` changes."""
ROTATED_BOT = "{}_token"
"""The same for a platform's bots, in the store. In the bot's folder it is called the service token."""


def _random_token() -> str:
    return secrets.token_urlsafe(32)


def _encryption_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


@dataclass(frozen=True)
class Folders:
    """Where the secrets go: everything into the store, and to each part what it needs."""

    store: Path
    service: Path
    database: Path | None = None
    monitor: Path | None = None
    """Folder of PostgreSQL's exporter."""
    bots: Mapping[str, Path] = field(default_factory=dict)
    """The folder of each platform's bots."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the secrets that are rotated."""
        return (ROTATED, *map(ROTATED_BOT.format, self.bots))

    @property
    def kinds(self) -> dict[str, Callable[[], str]]:
        """Returns how to generate each secret, by name."""
        fixed = {"postgres_password": _random_token, "token_key": _encryption_key, "link_secret": _random_token}
        if self.monitor is not None:
            fixed["monitor_password"] = _random_token
        return fixed | dict.fromkeys(self.tokens, _random_token)


def make_keys(folders: Folders) -> list[str]:
    """Creates the missing secrets and returns their names."""
    created = []
    for name, make in folders.kinds.items():
        if not (folders.store / name).exists():
            _write(folders.store / name, make())
            created.append(name)
    _give_service(folders)
    _give_bots(folders)
    return created


def rotate(folders: Folders) -> int:
    """Adds a new token for services and for each platform's bots. Returns how many service tokens are valid now.

    The service gets them before any bot does, so that it is safe to interrupt this.
    """
    for name in folders.tokens:
        _write(folders.store / name, "\n".join([_random_token(), *_tokens(folders, name)]))
    _give_service(folders)
    _give_bots(folders)
    return len(_tokens(folders, ROTATED))


def retire(folders: Folders) -> int:
    """Removes all tokens but the newest, after giving that to every bot. Returns how many of services were removed."""
    _give_bots(folders)
    removed = len(_tokens(folders, ROTATED)) - 1
    for name in folders.tokens:
        _write(folders.store / name, _tokens(folders, name)[0])
    _give_service(folders)
    return removed


def set_token_keys(folders: Folders, given: str) -> int:
    """Replaces the keys that encrypt stored tokens; returns how many there are. Raises ValueError if one is invalid."""
    keys = tuple(given.replace(",", " ").split())
    if not keys:
        raise ValueError("there is no key")
    TokenCipher(keys)
    _write(folders.store / "token_key", ",".join(keys))
    _give_service(folders)
    return len(keys)


def _tokens(folders: Folders, name: str) -> tuple[str, ...]:
    """Returns the valid tokens of a name, newest first."""
    return parse_tokens((folders.store / name).read_text())


def _give_service(folders: Folders) -> None:
    """Copies to the service, the database and its exporter what they need."""
    for name in ("postgres_password", "token_key", ROTATED):
        _write(folders.service / name, (folders.store / name).read_text())
    bots = [f"{bot}={token}" for bot in folders.bots for token in _tokens(folders, ROTATED_BOT.format(bot))]
    _write(folders.service / "bot_tokens", "\n".join(bots))
    if folders.database is not None:
        _write(folders.database / "postgres_password", (folders.store / "postgres_password").read_text())
    if folders.monitor is not None:
        _write(folders.monitor / "monitor_password", (folders.store / "monitor_password").read_text())


def _give_bots(folders: Folders) -> None:
    """Copies to each bot its newest token and the secret that signs editor links."""
    for bot, folder in folders.bots.items():
        _write(folder / ROTATED, _tokens(folders, ROTATED_BOT.format(bot))[0])
        _write(folder / "link_secret", (folders.store / "link_secret").read_text())


def _write(path: Path, secret: str) -> None:
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    # Write and rename, so that an interruption never leaves half a secret.
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o440), "w") as file:
        file.write(secret)
    new.replace(path)


def _bot_folder(text: str) -> tuple[str, Path]:
    platform, equals, folder = text.partition("=")
    if platform not in PLATFORMS or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is not PLATFORM=FOLDER with one of {', '.join(PLATFORMS)}")
    return platform, Path(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m service.keys", description="Create or rotate the secrets of a deployment."
    )
    parser.add_argument("store", type=Path, metavar="STORE", help="the folder that keeps every secret")
    parser.add_argument("--service", type=Path, required=True, metavar="FOLDER", help="folder of services and workers")
    parser.add_argument("--database", type=Path, metavar="FOLDER", help="folder of PostgreSQL")
    parser.add_argument("--monitor", type=Path, metavar="FOLDER", help="folder of PostgreSQL's exporter")
    parser.add_argument(
        "--bot",
        type=_bot_folder,
        action="append",
        default=[],
        metavar="PLATFORM=FOLDER",
        help="folder of one chat's bot",
    )
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--rotate", action="store_true", help="add new tokens; the old ones stay valid")
    step.add_argument("--retire", action="store_true", help="remove all tokens but the newest")
    step.add_argument("--token-key", action="store_true", help="read the keys of stored tokens from standard input")
    arguments = parser.parse_args()
    bots = dict(arguments.bot)
    folders = Folders(arguments.store, arguments.service, arguments.database, arguments.monitor, bots)
    try:
        created = make_keys(folders)
        message = f"Created: {', '.join(created)}" if created else "Every secret exists already"
        if arguments.rotate:
            message = f"Added new tokens; {rotate(folders)} of each are valid until --retire"
        elif arguments.retire:
            message = f"Older tokens removed: {retire(folders)} of each"
        elif arguments.token_key:
            message = (
                f"Keys of stored tokens: {set_token_keys(folders, sys.stdin.read())}. Restart services to use them"
            )
    except ValueError:
        parser.exit(2, f"service.keys: standard input has no key: it must be the output of {KEY_COMMAND}.\n")
    except OSError as problem:
        place = problem.filename or arguments.store
        parser.exit(2, f"service.keys: {place} cannot be used: {problem.strerror}. Check its owner and its space.\n")
    sys.stdout.write(f"{message}\n")


if __name__ == "__main__":
    main()
