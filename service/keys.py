"""`python -m service.keys FOLDER...`: makes the secrets the parts of one installation share, once. Prints no secret.

The first folder is the service's and gets all of them; the others are the bots' and get what bots need. A secret that
is there stays: deleting its file and starting again changes it.

The service token is changed while everything runs, for processes look at its file: `--rotate` makes a new one, which
the service takes beside the old one and the bots show from then on; `--retire` has the service refuse all but the
newest. Between the two the old one is good: leave a quarter of an hour, for codes that link chats were made with it.
`dailygrad run` has nothing to change: it makes a new token at each start, and keeps none.
"""

from __future__ import annotations

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from service.credentials import tokens_in

ROTATED = "service_token"


def _word() -> str:
    return secrets.token_urlsafe(32)


def _fernet() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


KEYS: dict[str, tuple[Callable[[], str], bool]] = {
    "postgres_password": (_word, False),
    "token_key": (_fernet, False),
    "service_token": (_word, True),
    "link_secret": (_word, True),
}
"""How each is made, and whether bots need it."""


def make_keys(folders: Sequence[Path]) -> list[str]:
    """Make what is missing; the names of what was made."""
    first, *others = folders
    made = []
    for name, (make, shared) in KEYS.items():
        if not (first / name).exists():
            _write(first / name, make())
            made.append(name)
        for folder in others if shared else ():
            _hand_on(first / name, folder)
    return made


def rotate(folders: Sequence[Path]) -> int:
    """Put a new service token before those that are good; how many are good then. The service knows it before any bot
    shows it, whenever this is cut short."""
    first, *others = folders
    tokens = [_word(), *tokens_in((first / ROTATED).read_text())]
    _write(first / ROTATED, "\n".join(tokens))
    for folder in others:
        _hand_on(first / ROTATED, folder)
    return len(tokens)


def retire(folders: Sequence[Path]) -> int:
    """Have the service take none but the newest token, once every bot's folder has it; how many are good no more."""
    first, *others = folders
    for folder in others:
        _hand_on(first / ROTATED, folder)
    newest, *older = tokens_in((first / ROTATED).read_text())
    _write(first / ROTATED, newest)
    return len(older)


def _hand_on(secret: Path, folder: Path) -> None:
    """Give a folder a secret's newest value."""
    _write(folder / secret.name, secret.read_text().partition("\n")[0])


def _write(path: Path, secret: str) -> None:
    # Whole or not at all: whoever is killed in between leaves no half of a secret.
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o440), "w") as file:
        file.write(secret)
    new.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m service.keys", description="The secrets of one installation.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="the service's, then the bots'")
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--rotate", action="store_true", help="make a new service token; the old one stays good")
    step.add_argument("--retire", action="store_true", help="have the service take the newest service token alone")
    asked = parser.parse_args()
    made = make_keys(asked.folders)
    said = f"made: {', '.join(made)}" if made else "every secret was there"
    if asked.rotate:
        said = f"a new service token is in use; {rotate(asked.folders)} are good until --retire"
    elif asked.retire:
        said = f"service tokens that are good no more: {retire(asked.folders)}"
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main()
