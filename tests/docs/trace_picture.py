"""Draws a trace as processes sent it to the collector: a row for each span, under the span that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from tests.collector import attributes

WIDTH, LABELS, ROW, BAR, EDGE = 760, 270, 26, 14, 16
"""Sizes in pixels: the picture, the column of names, a row, a bar, and the margin."""
COLORS = {"bot": "#4f6bed", "service": "#0b7a75", "worker": "#b4530a"}
SHOWN = ("kind", "role", "route", "outcome", "status")
"""Attributes that are written behind a span's name."""


def draw_trace(found: Sequence[tuple[str, Any]]) -> str:
    """Returns an SVG of the spans of one trace, each with the name of its process."""
    rows = _in_order(found)
    first = min(span.start_time_unix_nano for _, span, _ in rows)
    whole = max(span.end_time_unix_nano for _, span, _ in rows) - first
    room = WIDTH - LABELS - 2 * EDGE
    height = 2 * EDGE + ROW * (len(rows) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>One answer: {whole / 1e6:,.0f} ms from the press to the delivered verdict</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    at = EDGE
    for name, color in COLORS.items():
        lines.append(f'<rect x="{at}" y="{EDGE}" width="12" height="12" rx="2" fill="{color}"/>')
        lines.append(f'<text x="{at + 18}" y="{EDGE + 11}" fill="#333333">{name}</text>')
        at += 90
    lines.append(
        f'<text x="{WIDTH - EDGE}" y="{EDGE + 11}" fill="#333333" text-anchor="end">{whole / 1e6:,.0f} ms</text>'
    )
    for number, (process, span, depth) in enumerate(rows, 1):
        y = EDGE + ROW * number
        start = span.start_time_unix_nano - first
        took = span.end_time_unix_nano - span.start_time_unix_nano
        x, width = LABELS + EDGE + room * start / whole, max(2.0, room * took / whole)
        told = attributes(span)
        more = " ".join(str(told[key]) for key in SHOWN if key in told)
        lines += [
            f'<text x="{EDGE + 16 * depth}" y="{y + 15}" fill="#111111">{escape(span.name)}'
            f'<tspan fill="#666666" font-size="11" dx="6">{escape(more)}</tspan></text>',
            f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{BAR}" rx="2" '
            f'fill="{COLORS[process.removeprefix("dailygrad-")]}"/>',
            _duration(x, width, y + 15, took / 1e6),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _duration(x: float, width: float, y: int, ms: float) -> str:
    """Returns the text with a span's duration: behind its bar, or where there is no room in front of it."""
    text = f"{ms:,.1f} ms"
    if x + width + 60 < WIDTH:
        return f'<text x="{x + width + 5:.1f}" y="{y}" fill="#444444" font-size="11">{text}</text>'
    if width > 60:
        return f'<text x="{x + width - 5:.1f}" y="{y}" fill="#ffffff" font-size="11" text-anchor="end">{text}</text>'
    return f'<text x="{x - 5:.1f}" y="{y}" fill="#444444" font-size="11" text-anchor="end">{text}</text>'


def _in_order(found: Sequence[tuple[str, Any]]) -> list[tuple[str, Any, int]]:
    """Returns each span with its process and its depth, below the one it belongs to, earliest first."""
    ids = {span.span_id for _, span in found}
    rows: list[tuple[str, Any, int]] = []

    def add(parent: bytes | None, depth: int) -> None:
        below = [one for one in found if (one[1].parent_span_id if one[1].parent_span_id in ids else None) == parent]
        for process, span in sorted(below, key=lambda one: one[1].start_time_unix_nano):
            rows.append((process, span, depth))
            add(span.span_id, depth + 1)

    add(None, 0)
    return rows
