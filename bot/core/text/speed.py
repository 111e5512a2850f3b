"""The speed board: time and memory of code that passed, with their error, and the solution that an author shares."""

from __future__ import annotations

from bot.core.actions import MyResult, ShareSolution, ShowSpeed, encode
from bot.core.cards import Block, Button, Card, Code, Small, Table, Text
from bot.core.markup import escape
from bot.core.text.words import day_words, percent, plural
from service.wire import MeasurementBoard, Spread

SHOWN_CODE = 2500
"""Longest shared code that a card shows, characters."""


def speed_card(board: MeasurementBoard) -> Card:
    """Shows the speed board of a round, the reader's own row, and the buttons that share their code or hide it."""
    what = "time" if board.by == "time" else "memory"
    best = board.rows[0] if board.rows else None
    summary = f"Fastest: {best.name} with {_ms(best.time)}." if best and board.by == "time" else f"Code by {what}."
    return Card(
        title=f"Speed board: {day_words(board.day)}",
        summary=summary if board.rows else "No code was measured.",
        blocks=(*_table(board), *_about(board), *_solution(board)),
        buttons=_buttons(board),
    )


def _table(board: MeasurementBoard) -> tuple[Block, ...]:
    if not board.rows:
        return (Text("No answer to this question was right in every run."),)
    rows = tuple(
        (str(row.rank), row.name, _ms(row.time), _mb(row.memory), f"{row.better_than} %" if board.total > 1 else "–")
        for row in board.rows
    )
    mine = next((place for place, row in enumerate(board.rows) if row.me), None)
    by = "CPU time" if board.by == "time" else "memory"
    columns = ("Place", "Name", "CPU time", "Memory", "Better than")
    return (Table(columns, rows, f"{board.question}, by {by}", (0, 2, 3, 4), mine),)


def _about(board: MeasurementBoard) -> tuple[Block, ...]:
    hidden = board.total - len(board.rows)
    said = [
        f"Medians of {plural(board.runs, 'run')} on fresh inputs after the close, with the interval that has the true "
        f"median at {percent(board.confidence)}. Places are shared where intervals overlap.",
        f"The reference took {_ms(board.time)} and {_mb(board.memory)}.",
    ]
    if hidden > 0:
        said.append(f"{plural(hidden, 'more answer is', 'more answers are')} not listed.")
    if board.unsteady:
        said.append(f"{plural(board.unsteady, 'answer')} passed the round but not every run, and left the board.")
    return (Small(" ".join(said)),)


def _solution(board: MeasurementBoard) -> tuple[Block, ...]:
    found = board.solution
    if found is None:
        return ()
    code = found.code.strip()
    shown = code if len(code) <= SHOWN_CODE else f"{code[:SHOWN_CODE]}\n# …"
    return (Text(f"**The best solution that its author shares**, by {escape(found.name)}:"), Code(shown))


def _buttons(board: MeasurementBoard) -> tuple[Button, ...]:
    other = ("memory", "By memory") if board.by == "time" else ("time", "By time")
    buttons = [Button(other[1], encode(ShowSpeed(board.ref, other[0])))]
    if board.shared is not None:
        label, switch = ("Hide my solution", "off") if board.shared else ("Show my solution", "on")
        buttons.append(Button(label, encode(ShareSolution(board.ref, switch))))
    return (*buttons, Button("My result", encode(MyResult(board.ref))))


def _ms(spread: Spread) -> str:
    digits = 0 if spread.median >= 100 else 1 if spread.median >= 10 else 2
    return f"{spread.median:,.{digits}f} ms ({spread.low:,.{digits}f}–{spread.high:,.{digits}f})"


def _mb(spread: Spread) -> str:
    return f"{spread.median:,.1f} MiB ({spread.low:,.1f}–{spread.high:,.1f})"
