"""Records which product modules a flow enters at run time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "service", "questions", "sandbox")


def module_of(filename: str) -> str | None:
    """Returns the dotted name of a product module by its file; None for any other file."""
    try:
        path = Path(filename).relative_to(ROOT)
    except ValueError:
        return None
    if path.parts[0] not in PACKAGES:
        return None
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@contextmanager
def traced() -> Iterator[list[str]]:
    """Yields a list that fills with the modules entered in this thread, in order of first entry.

    A module counts when one of its functions is called. Importing it does not count, nor do threads.
    """
    entered: list[str] = []
    seen: dict[str, str | None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name == "<module>":
            return
        name = code.co_filename
        if name not in seen:
            seen[name] = module = module_of(name)
            if module is not None:
                entered.append(module)

    sys.setprofile(profile)
    try:
        yield entered
    finally:
        sys.setprofile(None)
