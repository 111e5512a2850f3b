"""`python -m service.keys FOLDER...`: creates the secrets that the parts of one deployment share. Prints no secret.

The first folder is the service's and gets every secret; the others are the bots' and get what bots need. Existing
secrets are kept: to change one, delete its file and run this again.

The service token can be rotated while everything runs, because processes watch its file: `--rotate` adds a new token,
which bots send from then on; `--retire` makes the service refuse all but the newest. Wait a quarter of an hour in
between: link codes made with the old token stay valid that long. `dailygrad run` needs no rotation: it generates a
token at each start and stores none.
"""

from __future__ import annotations

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from service.credentials import parse_tokens

ROTATED = "service_token"
"""Name of the secret that `--rotate` changes."""


def _random_token() -> str:
    return secrets.token_urlsafe(32)


def _encryption_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


KEYS: dict[str, tuple[Callable[[], str], bool]] = {
    "postgres_password": (_random_token, False),
    "token_key": (_encryption_key, False),
    "service_token": (_random_token, True),
    "link_secret": (_random_token, True),
}
"""Secrets by name: how to generate each, and whether bots need it."""


def make_keys(folders: Sequence[Path]) -> list[str]:
    """Creates the missing secrets and returns their names."""
    first, *others = folders
    created = []
    for name, (make, shared) in KEYS.items():
        if not (first / name).exists():
            _write(first / name, make())
            created.append(name)
        for folder in others if shared else ():
            _copy_newest(first / name, folder)
    return created


def rotate(folders: Sequence[Path]) -> int:
    """Adds a new service token and returns how many are valid now.

    The service gets it before any bot does, so that it is safe to interrupt this.
    """
    first, *others = folders
    tokens = [_random_token(), *parse_tokens((first / ROTATED).read_text())]
    _write(first / ROTATED, "\n".join(tokens))
    for folder in others:
        _copy_newest(first / ROTATED, folder)
    return len(tokens)


def retire(folders: Sequence[Path]) -> int:
    """Removes all service tokens but the newest, after giving it to every bot. Returns how many were removed."""
    first, *others = folders
    for folder in others:
        _copy_newest(first / ROTATED, folder)
    newest, *older = parse_tokens((first / ROTATED).read_text())
    _write(first / ROTATED, newest)
    return len(older)


def _copy_newest(secret: Path, folder: Path) -> None:
    """Copies a secret's newest value to a folder."""
    _write(folder / secret.name, secret.read_text().partition("\n")[0])


def _write(path: Path, secret: str) -> None:
    # Write and rename, so that an interruption never leaves half a secret.
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o440), "w") as file:
        file.write(secret)
    new.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m service.keys", description="Create or rotate the secrets of a deployment."
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="FOLDER", help="the service's folder, then the bots' folders"
    )
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--rotate", action="store_true", help="add a new service token; the old one stays valid")
    step.add_argument("--retire", action="store_true", help="remove all service tokens but the newest")
    arguments = parser.parse_args()
    created = make_keys(arguments.folders)
    message = f"Created: {', '.join(created)}" if created else "Every secret exists already"
    if arguments.rotate:
        message = f"Added a new service token; {rotate(arguments.folders)} are valid until --retire"
    elif arguments.retire:
        message = f"Service tokens removed: {retire(arguments.folders)}"
    sys.stdout.write(f"{message}\n")


if __name__ == "__main__":
    main()
