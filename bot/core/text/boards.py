"""Leaderboards: the card of the chats, and the words of the web's board page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bot.core.actions import ShowBoard, ShowContest, encode, fits
from bot.core.cards import Block, Button, Card, Small, Table, Text
from bot.core.markup import escape
from bot.core.text.words import countdown_words, joined, percent, plural
from service.wire import Board, BoardRow, Contest, Period

_CONTESTS: dict[Contest, tuple[str, frozenset[str]]] = {
    "points": ("Everybody", frozenset({"day", "week", "month", "season", "all"})),
    "rookies": ("Rookies", frozenset({"day", "week", "month", "season"})),
    "improved": ("Most improved", frozenset({"day", "week", "month"})),
}
"""What each board is called, and the periods it can have."""
_PERIODS: tuple[tuple[Period, str], ...] = (
    ("day", "Day"),
    ("week", "Week"),
    ("month", "Month"),
    ("season", "Season"),
    ("all", "All time"),
)

_SCOPES: tuple[tuple[Literal["channel", "workspace"], str], ...] = (
    ("channel", "This channel"),
    ("workspace", "Whole workspace"),
)


@dataclass(frozen=True, slots=True)
class BoardChoice:
    """A board that a member may ask for."""

    period: Period = "week"
    contest: Contest = "points"
    scope: Literal["channel", "workspace"] = "channel"
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A board that the page offers under a label."""

    label: str
    board: BoardChoice
    shown: bool


def board_table(rows: tuple[BoardRow, ...], caption: str) -> Table:
    """Returns the rows of a leaderboard; the reader's own is marked."""
    mine = next((place for place, row in enumerate(rows) if row.me), None)
    cells = tuple(
        (str(row.rank), row.name, str(row.points), str(row.answered), accuracy(row), str(row.streak)) for row in rows
    )
    return Table(("Rank", "Name", "Points", "Answers", "Right", "Streak"), cells, caption, (0, 2, 3, 4, 5), mine)


def accuracy(row: BoardRow) -> str:
    """Returns the share that is right; a dash while all answers are open ones that nobody has confirmed."""
    return percent(row.accuracy) if row.answered else "–"


def board_card(board: Board) -> Card:
    """Shows a leaderboard, the reader's own rank, and buttons for other periods."""
    blocks: list[Block] = []
    if board.rows:
        blocks.append(_gains_table(board.rows) if board.contest == "improved" else _points_table(board.rows))
        left = board.total - len(board.rows)
        if left > 0:
            blocks.append(Small(f"{plural(left, 'more member', 'more members')} further down."))
    else:
        blocks.append(Text(nobody(board)))
    if board.mine and not any(row.me for row in board.rows):
        mine = board.mine
        blocks.append(Text(f"You: rank {mine.rank} with {_merit(mine)}, streak {mine.streak}."))
    return Card(_board_title(board), _board_summary(board), tuple(blocks), _board_buttons(board))


def _points_table(rows: tuple[BoardRow, ...]) -> Table:
    return replace(board_table(rows, ""), shows="board")


def _gains_table(rows: tuple[BoardRow, ...]) -> Table:
    """Returns the rows of the most improved; the reader's own is marked."""
    cells = tuple((str(row.rank), row.name, f"+{_gain(row)}", percent(row.accuracy), str(row.answered)) for row in rows)
    mine = next((place for place, row in enumerate(rows) if row.me), None)
    return Table(("Rank", "Name", "Gain", "Right now", "Answers"), cells, "", (0, 2, 3, 4), mine)


def _gain(row: BoardRow) -> int:
    """Returns the gain in percentage points, at least 1."""
    return max(1, round((row.gain or 0) * 100))


def _merit(row: BoardRow) -> str:
    if row.gain is not None:
        return f"{percent(row.accuracy)} right, {score(row)}"
    return score(row)


def nobody(board: Board) -> str:
    """Says that the board is empty, and what changes that."""
    about = f" on {escape(board.topic)}" if board.topic else ""
    if board.contest == "improved":
        return f"Nobody has improved{about} yet. It takes three answers in this period and three in the one before."
    who = "Nobody who joined in this period" if board.contest == "rookies" else "Nobody"
    return f"{who} has points{about} here yet. The next answer may be the first."


def _board_title(board: Board) -> str:
    of = "" if board.contest == "points" else _CONTESTS[board.contest][0].lower()
    return joined(board.title, of, board.topic)


def _board_summary(board: Board) -> str:
    if board.rows:
        leader = f"{board.rows[0].name} leads with {_merit(board.rows[0])}."
    else:
        leader = "Nobody yet." if board.contest == "improved" else "No points yet."
    mine = f" You are at rank {board.mine.rank} of {board.total}." if board.mine else ""
    return f"{_board_title(board)}: {leader}{mine}"


def _board_buttons(board: Board) -> tuple[Button, ...]:
    """Returns buttons for other periods, the whole workspace or the channel, and other contests."""
    other = "workspace" if board.scope == "channel" else "channel"
    periods = _CONTESTS[board.contest][1]
    ways = [(label, board.model_copy(update={"period": period})) for period, label in _PERIODS if period in periods]
    ways.append(
        ("Whole workspace" if other == "workspace" else "This channel", board.model_copy(update={"scope": other}))
    )
    for contest, (label, allowed) in _CONTESTS.items():
        period = board.period if board.period in allowed else "month"
        if contest != board.contest:
            ways.append((label, board.model_copy(update={"contest": contest, "period": period})))
    return tuple(_board_button(label, way, shown=way == board) for label, way in ways if fits(_show(way)))


def _board_button(label: str, way: Board, *, shown: bool) -> Button:
    return Button(f"{label} (shown)" if shown else label, encode(_show(way)), pressed=shown)


def _show(board: Board) -> ShowBoard | ShowContest:
    if board.contest == "points":
        return ShowBoard(board.period, board.scope, board.topic)
    return ShowContest(board.contest, board.period, board.scope, board.topic)


# The page of boards. Its links name a board by the words of the service.


def choices(shown: BoardChoice) -> tuple[tuple[Choice, ...], ...]:
    """Returns the boards that the page links to: other periods, other contests, and the channel or the workspace."""
    return (
        tuple(
            Choice(label, replace(shown, period=period), period == shown.period)
            for period, label in _PERIODS
            if period in _CONTESTS[shown.contest][1]
        ),
        tuple(
            Choice(label, suited(replace(shown, contest=contest)), contest == shown.contest)
            for contest, (label, _) in _CONTESTS.items()
        ),
        tuple(Choice(label, replace(shown, scope=scope), scope == shown.scope) for scope, label in _SCOPES),
    )


def about(shown: BoardChoice) -> str:
    """Says in what the board differs from the usual one; empty if only its period does."""
    contest = "" if shown.contest == "points" else _CONTESTS[shown.contest][0]
    return joined(contest, shown.topic, "Whole workspace" if shown.scope == "workspace" else "")


def suited(choice: BoardChoice) -> BoardChoice:
    """Returns the choice, with the month if the contest has no board of its period."""
    return choice if choice.period in _CONTESTS[choice.contest][1] else replace(choice, period="month")


def merit(row: BoardRow) -> str:
    """Returns what puts the member at their rank: their points or their gain."""
    return f"+{_gain(row)}" if row.gain is not None else f"{row.points:,}"


def score(row: BoardRow) -> str:
    """Returns what puts the member at their rank, with its unit."""
    return plural(row.points, "point") if row.gain is None else f"+{plural(_gain(row), 'percentage point')}"


def columns(board: Board) -> tuple[str, ...]:
    """Returns the headings of the page's table."""
    return ("Rank", "Member", "Gain" if board.contest == "improved" else "Points", "Right", "Answers", "Streak")


def ends(board: Board, now: datetime) -> str:
    """Returns the time until the board starts anew, such as `Ends in 3 h 12 min`; empty if it does not."""
    return f"Ends in {countdown_words(board.until - now)}" if board.until else ""


def podium(board: Board) -> tuple[BoardRow, ...]:
    """Returns the first three; none unless three are ranked first, second and third."""
    return board.rows[:3] if [row.rank for row in board.rows[:3]] == [1, 2, 3] else ()


def neighbors(board: Board) -> tuple[BoardRow, ...]:
    """Returns the reader's row and those around it that are not among the first rows."""
    if board.mine is None or any(row.me for row in board.rows):
        return ()
    # Both are runs of one order, so what they share is the end of one and the beginning of the other.
    shared = next(n for n in range(len(board.near), -1, -1) if board.rows[len(board.rows) - n :] == board.near[:n])
    return board.near[shared:]


def place(board: Board) -> str:
    """Says where the reader stands, and how far it is to the next rank."""
    if board.mine is None:
        return (
            "You are not on this board: you have no points on it yet, or you are hidden. Your own page shows which."
            if board.contest == "points"
            else "You are not on this board."
        )
    mine = board.mine
    where = f"You are at rank {mine.rank} of {board.total:,} with {_merit(mine)}."
    ahead = [row for row in board.near if row.rank < mine.rank]
    if not ahead or mine.gain is not None:
        return where
    missing = ahead[-1].points - mine.points
    if not missing:
        return f"{where} {ahead[-1].name} has as many, and is ahead by accuracy or time."
    return f"{where} {plural(missing, 'more point brings', 'more points bring')} you level with {ahead[-1].name}."


def below(board: Board) -> str:
    """Says how many members the page does not list."""
    left = board.total - len(board.rows) - len(neighbors(board))
    return f"{plural(left, 'more member', 'more members')} not shown." if left > 0 else ""
