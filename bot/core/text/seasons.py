"""Words of the page of seasons."""

from __future__ import annotations

from typing import Final

from bot.core.text.admin import season_span as season_span

LONGEST_NAME = 80
"""Longest name of a season, characters."""
SHOWN = 10
"""Members of a final board that are shown."""
NO_NAME: Final = ("No name", "Give the season a name, such as Autumn.")
