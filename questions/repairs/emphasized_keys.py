"""Ends the emphasis of a label before its key, where a reason follows: `**Answer: C** — it copies` becomes
`**Answer:** C — it copies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs
from questions.wording.labels import KEY_AND_REASON

if TYPE_CHECKING:
    from questions.source import Source


def with_plain_keys(source: Source) -> Source:
    """Returns the document with keys outside the emphasis of their labels, if text follows the emphasis. Programs stay
    as they are."""
    lines: dict[int, str] = {}
    for at, line in lines_outside_programs(source.lines):
        if ("*" in line or "_" in line) and (found := KEY_AND_REASON.fullmatch(line)):
            lines[at] = f"{found['lead']}{found['open']}{found['label']}{found['open']} {found['key']}{found['rest']}"
    return source.with_lines(lines) if lines else source
