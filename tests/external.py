"""Finds files outside the repository: the chat platforms' own schemas and five real question documents.

No other module names their folder. Nothing depends on them: the doubles have their own tables of the platforms' rules,
and the fixtures contain documents of every dialect. Where the files are present they are a second, independent check;
elsewhere the tests marked `external` are skipped. The environment variable DAILYGRAD_EXTERNAL names another folder; set
but empty, it hides the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

VARIABLE = "DAILYGRAD_EXTERNAL"
"""Environment variable with the folder; empty hides it."""

_FOLDER = Path(os.environ.get(VARIABLE, Path(__file__).parents[2] / "shared") or "/nonexistent")
_SPECS = _FOLDER / "specs"

DISCORD_API = _SPECS / "discord_openapi.json"
SLACK_TYPES = _SPECS / "slack_types_schema.json"
SLACK_MANIFEST = _SPECS / "slack_manifest.schema.2.0.0.json"
SEEDS = _FOLDER / "seeds"

Test = TypeVar("Test", bound=Callable[..., object])


class Needs:
    """Marks tests that read external files. `marks` can be used for a parameter."""

    def __init__(self, what: str, *paths: Path) -> None:
        self.present = all(path.exists() for path in paths)
        self.reason = f"{what} not beside the repository"
        self.marks = [pytest.mark.external, pytest.mark.skipif(not self.present, reason=self.reason)]

    def or_skip_module(self) -> list[pytest.MarkDecorator]:
        """Returns the marks for a module whose tests all need the files; skips the module without them."""
        if not self.present:
            pytest.skip(self.reason, allow_module_level=True)
        return self.marks

    def __call__(self, test: Test) -> Test:
        for mark in self.marks:
            mark(test)
        return test


needs_schemas = Needs("the schemas of Discord and Slack are", DISCORD_API, SLACK_TYPES)
needs_manifest_schema = Needs("Slack's manifest schema is", SLACK_MANIFEST)
needs_seeds = Needs("the five real documents are", SEEDS)
