"""The process that draws: reads a drawing a line as JSON, answers with a line of JSON and the PNG. See `painter`."""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import IO

from bot.pictures.charts import draw_board, draw_distribution, draw_progress
from bot.pictures.formulas import draw_formula
from bot.pictures.spec import BoardDrawing, DistributionDrawing, Drawing, FormulaDrawing, ProgressDrawing, from_data

_NICENESS = 5
"""Answering comes before drawing."""


def draw(drawing: Drawing) -> bytes:
    """The drawing as a PNG; the same drawing gives the same bytes. Raises BadFormula for a formula that has none."""
    match drawing:
        case BoardDrawing():
            return draw_board(drawing)
        case DistributionDrawing():
            return draw_distribution(drawing)
        case ProgressDrawing():
            return draw_progress(drawing)
        case FormulaDrawing():
            return draw_formula(drawing)


def serve(asked: IO[bytes], told: IO[bytes]) -> None:
    """Draw what is asked for until nothing more is."""
    told.write(b"ready\n")
    told.flush()
    for line in asked:
        head, png = _answer(line)
        told.write(json.dumps(head).encode() + b"\n" + png)
        told.flush()


def _answer(line: bytes) -> tuple[dict[str, object], bytes]:
    try:
        png = draw(from_data(json.loads(line)))
    except Exception as error:  # whatever a library makes of a stranger's text, the words stand instead
        return {"size": 0, "error": f"{type(error).__name__}: {error}"[:500]}, b""
    return {"size": len(png)}, png


if __name__ == "__main__":
    os.nice(_NICENESS)
    warnings.simplefilter("ignore")
    # What a library prints must not come between the pictures.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(0)  # whoever asked was killed: nobody is left to draw for, and what was not told has no reader
