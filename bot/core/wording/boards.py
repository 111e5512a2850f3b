"""Boards, and what a member sees of themselves. No sums: everything shown was counted by the service."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from bot.core.actions import Next, Privacy, ShowBoard, ShowContest, encode, fits
from bot.core.cards import Block, Button, Card, Code, Small, Table, Text
from bot.core.markup import escape
from bot.core.wording.words import MONTHS, joined, percent, plural
from service.wire import Board, BoardRow, Contest, Me, PrivacyView, TopicCount

_CONTESTS: dict[Contest, tuple[str, frozenset[str]]] = {
    "points": ("Everybody", frozenset({"day", "week", "month", "season", "all"})),
    "rookies": ("Rookies", frozenset({"day", "week", "month", "season"})),
    "improved": ("Most improved", frozenset({"day", "week", "month"})),
}
"""What each board is called, and the periods it can have."""
_PERIODS = (("day", "Day"), ("week", "Week"), ("month", "Month"), ("season", "Season"), ("all", "All time"))


def board_table(rows: tuple[BoardRow, ...], caption: str) -> Table:
    """Rows of a board; the reader's own is marked."""
    mine = next((place for place, row in enumerate(rows) if row.me), None)
    cells = tuple(
        (str(row.rank), row.name, str(row.points), str(row.answered), percent(row.accuracy), str(row.streak))
        for row in rows
    )
    return Table(("Rank", "Name", "Points", "Answers", "Right", "Streak"), cells, caption, (0, 2, 3, 4, 5), mine)


def board_card(board: Board) -> Card:
    """A board, the reader's own place, and the way to the other periods."""
    blocks: list[Block] = []
    if board.rows:
        blocks.append(_gains_table(board.rows) if board.contest == "improved" else _points_table(board.rows))
        left = board.total - len(board.rows)
        if left > 0:
            blocks.append(Small(f"{plural(left, 'more member', 'more members')} further down."))
    else:
        blocks.append(Text(_nobody(board)))
    if board.mine and not any(row.me for row in board.rows):
        mine = board.mine
        blocks.append(Text(f"You: rank {mine.rank} with {_merit(mine)}, streak {mine.streak}."))
    return Card(_board_title(board), _board_summary(board), tuple(blocks), _board_buttons(board))


def _points_table(rows: tuple[BoardRow, ...]) -> Table:
    return replace(board_table(rows, ""), shows="board")


def _gains_table(rows: tuple[BoardRow, ...]) -> Table:
    """Who gets how much more right; the reader's own row is marked."""
    cells = tuple((str(row.rank), row.name, f"+{_gain(row)}", percent(row.accuracy), str(row.answered)) for row in rows)
    mine = next((place for place, row in enumerate(rows) if row.me), None)
    return Table(("Rank", "Name", "Gain", "Right now", "Answers"), cells, "", (0, 2, 3, 4), mine)


def _gain(row: BoardRow) -> int:
    """How much greater one share is than another, in percentage points; never none, for it is greater."""
    return max(1, round((row.gain or 0) * 100))


def _merit(row: BoardRow) -> str:
    if row.gain is not None:
        return f"{percent(row.accuracy)} right, +{plural(_gain(row), 'percentage point')}"
    return plural(row.points, "point")


def _nobody(board: Board) -> str:
    about = f" on {escape(board.topic)}" if board.topic else ""
    if board.contest == "improved":
        return (
            f"Nobody gets more right{about} than in the period before, of those who gave three answers or more in each."
        )
    who = "Nobody who began in this period" if board.contest == "rookies" else "Nobody"
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
    """The way to the other periods, to the whole workspace or back, and to the other contests."""
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


def me_card(me: Me) -> Card:
    """The member's own numbers."""
    # Without points in a season there may be none that runs.
    season = f", {me.season_points:,} this season; " if me.season_points else ""
    rank = f"rank {me.rank} of the season" if me.rank else "no rank yet this season"
    rows = (
        ("Points", f"{me.points:,} in all{season}{rank if season else ''}"),
        ("Answers", f"{me.answered:,}, {percent(me.accuracy)} right" if me.answered else "none yet"),
        ("Streak", f"{plural(me.streak, 'round')}; best {me.best_streak}; {plural(me.freezes, 'freeze')} left"),
        ("Practice", f"{plural(me.cards, 'card')}, {me.cards_due} due"),
    )
    weak = tuple(
        (topic or "without a topic", str(answers), percent(credit)) for topic, answers, credit in me.topics[:8]
    )
    blocks: list[Block] = [Table(("What", "How much"), rows)]
    if weak:
        blocks.append(Table(("Topic", "Answers", "Right"), weak, "Topics, the weakest first", (1, 2)))
    if me.weeks:
        blocks.append(_weeks_table(me))
    if me.hidden:
        blocks.append(Small("You are hidden from the boards. `/quiz privacy show` changes that."))
    summary = f"{plural(me.points, 'point')}, streak {me.streak}, {plural(me.cards_due, 'card')} due."
    return Card(me.name, summary, tuple(blocks), (Button("Practise", encode(Next()), "primary"),))


def _weeks_table(me: Me) -> Table:
    """Weeks by their Mondays."""
    rows = tuple(
        (_short_day(monday), str(points), str(answers), percent(credit) if answers else "")
        for monday, points, answers, credit in me.weeks
    )
    return Table(("Week of", "Points", "Answers", "Right"), rows, "Your last weeks", (1, 2, 3), shows="weeks")


def _short_day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1][:3]}"


def topics_card(topics: tuple[TopicCount, ...]) -> Card:
    """What there are questions about."""
    if not topics:
        text = "There are no questions yet. An admin brings them with `/quiz-admin bank import`."
        return Card("Topics", "There are no questions yet.", (Text(text),))
    rows = tuple((one.topic or "without a topic", str(one.questions)) for one in topics)
    total = sum(one.questions for one in topics)
    summary = f"{plural(total, 'question')} on {plural(len(topics), 'topic')}."
    table = Table(("Topic", "Questions"), rows, "", (1,))
    return Card("Topics", summary, (Text(summary), table, Small("Practise one with `/quiz practice TOPIC`.")))


def privacy_card(view: PrivacyView) -> Card:
    """What is kept about a member and what they can do about it."""
    if view.forgotten:
        said = "You are forgotten: your answers stay in the totals without your name, everything else is gone."
        return Card("Forgotten", said, (Text(said),))
    kept = joined(
        plural(view.answers, "answer"),
        plural(view.ledger_rows, "entry of points", "entries of points"),
        plural(view.cards, "practice card"),
    )
    seen = "You are **hidden** from the boards." if view.hidden else "You are **shown** on the boards."
    blocks: tuple[Block, ...] = (Text(f"Kept about you: {kept}, and the name you go by here."), Text(seen))
    if view.export:
        said = "Everything, as JSON:" if view.format == "json" else "A line for each thing, as CSV for a spreadsheet:"
        blocks = (*blocks, Small(said), Code(view.export, view.format))
    turn = ("Show me on the boards", "show") if view.hidden else ("Hide me from the boards", "hide")
    buttons = (
        Button(turn[0], encode(Privacy(turn[1]))),
        Button("Export everything", encode(Privacy("export"))),
        Button("As CSV", encode(Privacy("csv"))),
        Button("Forget me…", encode(Privacy("forget")), "danger"),
    )
    return Card(
        "What is kept about you", f"{kept}. {'Hidden from' if view.hidden else 'Shown on'} the boards.", blocks, buttons
    )


def forget_card() -> Card:
    """Forgetting cannot be undone, so it is asked once more."""
    said = "This cannot be undone: your points, streak and cards go, and your name leaves every answer."
    buttons = (
        Button("Forget me for good", encode(Privacy("erase")), "danger"),
        Button("Keep everything", encode(Privacy("see"))),
    )
    return Card("Forget you?", said, (Text(said),), buttons)
