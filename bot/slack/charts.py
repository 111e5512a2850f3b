"""Slack's own charts, for distributions whose options have short labels.

A chart has no room for long labels, and a workspace may not have the block yet, so the numbers stay beneath it as text,
and a message can be sent without it.
"""

from __future__ import annotations

from typing import Any

from bot.core.cards import Bar, Bars
from bot.core.limits import SLACK
from bot.core.rendering import line_of, short, shortened

CHART = "data_visualization"
Body = dict[str, Any]


def chart_block(bars: Bars) -> Body | None:
    """Returns a bar chart of the counts, with a series for each mark; None if a label does not fit or occurs twice, or
    if there is nothing to draw."""
    labels = [short(row.label, SLACK.chart_label) for row in bars.rows]
    marks = list(dict.fromkeys(row.mark for row in bars.rows))
    fit = len(labels) <= SLACK.chart_categories and len(marks) <= SLACK.chart_series
    whole = len(set(labels)) == len(labels) and not any(shortened(row.label, SLACK.chart_label) for row in bars.rows)
    if not bars.caption or not fit or not whole or not any(row.count for row in bars.rows):
        return None
    name = line_of(bars.caption, SLACK.chart_label)
    series = [{"name": mark.capitalize() or name, "data": _points(labels, bars.rows, mark)} for mark in marks]
    return {
        "type": CHART,
        "title": line_of(bars.caption, SLACK.chart_title),
        "chart": {"type": "bar", "series": series, "axis_config": {"categories": labels}},
    }


def _points(labels: list[str], rows: tuple[Bar, ...], mark: str) -> list[Body]:
    """Returns the counts of the rows with this mark, and 0 for the others: every series has all categories."""
    return [
        {"label": label, "value": row.count if row.mark == mark else 0} for label, row in zip(labels, rows, strict=True)
    ]


def has_charts(body: Body) -> bool:
    """Returns whether a message has a chart."""
    return any(block["type"] == CHART for block in body["blocks"])


def without_charts(body: Body) -> Body:
    """Returns the message without its charts, whose numbers it has as text."""
    return {**body, "blocks": [block for block in body["blocks"] if block["type"] != CHART]}
