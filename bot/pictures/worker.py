"""The child process that draws: reads one drawing per line as JSON, and answers with a line of JSON and the PNG."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from typing import IO

from bot.core.cards import from_data
from bot.core.charts import (
    BoardChart,
    DigestChart,
    DistributionChart,
    Drawing,
    FormulaDrawing,
    HeatmapChart,
    MeasuredChart,
    PodiumChart,
    RangesChart,
    WeeksChart,
)
from bot.pictures.charts import (
    draw_board,
    draw_digest,
    draw_distribution,
    draw_heatmap,
    draw_measured,
    draw_podium,
    draw_progress,
    draw_ranges,
)
from bot.pictures.formulas import draw_formula

_NICENESS = 5
"""Niceness: answering members has priority over drawing."""


def draw(drawing: Drawing) -> bytes:
    """Draws a PNG; the same drawing gives the same bytes. Raises BadFormula."""
    match drawing:
        case BoardChart():
            return draw_board(drawing)
        case DistributionChart():
            return draw_distribution(drawing)
        case WeeksChart():
            return draw_progress(drawing)
        case PodiumChart():
            return draw_podium(drawing)
        case RangesChart():
            return draw_ranges(drawing)
        case MeasuredChart():
            return draw_measured(drawing)
        case HeatmapChart():
            return draw_heatmap(drawing)
        case DigestChart():
            return draw_digest(drawing)
        case FormulaDrawing():
            return draw_formula(drawing)


def serve(requests: IO[bytes], responses: IO[bytes]) -> None:
    """Serves requests until the input ends."""
    responses.write(b"ready\n")
    responses.flush()
    for line in requests:
        head, png = _answer(line)
        responses.write(json.dumps(head).encode() + b"\n" + png)
        responses.flush()


def _answer(line: bytes) -> tuple[dict[str, object], bytes]:
    try:
        png = draw(from_data(json.loads(line)))
    except Exception as error:  # untrusted text may cause any error; the text is shown instead
        return {"size": 0, "error": f"{type(error).__name__}: {error}"[:500]}, b""
    return {"size": len(png)}, png


if __name__ == "__main__":
    os.nice(_NICENESS)
    warnings.simplefilter("ignore")
    # Fonts of other scripts are often there in one weight only.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    # Keep library output out of the protocol.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(0)  # the parent was killed
