"""What the page of signed-in browsers says."""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = ("This browser is signed out", "It was signed out before, or it is not yours. Nothing was done.")
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/|FxiOS", "Firefox"),
    ("Chrome/|CriOS", "Chrome"),
    ("Safari/", "Safari"),
)
"""Patterns in the order in which to look: browsers also name those that they resemble."""
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser(agent: str) -> str:
    """Returns the name of a browser and its system, from what it calls itself."""
    name = next((name for pattern, name in _BROWSERS if re.search(pattern, agent)), "A browser")
    system = next((name for pattern, name in _SYSTEMS if pattern in agent), "")
    return f"{name} on {system}" if system else name
