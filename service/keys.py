"""`python -m service.keys FOLDER...`: makes the secrets the parts of one installation share, once. Prints no secret.

The first folder is the service's and gets all of them; the others are the bots' and get what bots need. A secret that
is there stays: deleting its file and starting again changes it.
"""

from __future__ import annotations

import base64
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


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
            _write(folder / name, (first / name).read_text())
    return made


def _write(path: Path, secret: str) -> None:
    # Whole or not at all: whoever is killed in between leaves no half of a secret.
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o440), "w") as file:
        file.write(secret)
    new.replace(path)


def main() -> None:
    made = make_keys([Path(word) for word in sys.argv[1:]])
    sys.stdout.write(f"made: {', '.join(made)}\n" if made else "every secret was there\n")


if __name__ == "__main__":
    main()
