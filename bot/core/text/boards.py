"""Boards: of points, of seasons with their winners, and of the speed of code; in chats and on the web."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from bot.core.actions import MyResult, ShareSolution, ShowBoard, ShowContest, ShowSpeed, encode, fits
from bot.core.cards import Award, Block, Button, Card, Charted, Code, Small, Table, Text
from bot.core.channel_access import RoleProblem
from bot.core.charts import PODIUM_PLACES, BoardChart, BoardPlace, MeasuredChart, PodiumChart, PodiumPlace, RangeRow
from bot.core.markup import escape
from bot.core.text.admin import NOT_FINAL as NOT_FINAL
from bot.core.text.admin import season_span as season_span
from bot.core.text.tournaments import team_name
from bot.core.text.words import and_list, countdown_words, day_words, joined, mentions_of, percent, plural
from service.wire import (
    Board,
    BoardRow,
    Contest,
    MeasuredRow,
    MeasurementBoard,
    Period,
    Spread,
    WinnerOf,
    WinnerPost,
    WinnerRoleView,
)

DRAWN_PLACES = 10
"""Places that a picture of a board shows."""
_CONTESTS: dict[Contest, tuple[str, frozenset[str]]] = {
    "points": ("Everyone", frozenset({"day", "week", "month", "season", "all"})),
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
    heads = ("Rank", "Name", "Points", "Answers", "Right", "Streak")
    return Table(heads, cells, caption, (0, 2, 3, 4, 5), mine, members=mentions_of(rows))


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
    places = tuple(
        BoardPlace(row.rank, row.name, row.points, accuracy(row), row.streak, row.me) for row in rows[:DRAWN_PLACES]
    )
    return replace(board_table(rows, ""), chart=BoardChart(places))


def _gains_table(rows: tuple[BoardRow, ...]) -> Table:
    """Returns the rows of the most improved; the reader's own is marked."""
    cells = tuple((str(row.rank), row.name, f"+{_gain(row)}", percent(row.accuracy), str(row.answered)) for row in rows)
    mine = next((place for place, row in enumerate(rows) if row.me), None)
    heads = ("Rank", "Name", "Gain", "Right now", "Answers")
    return Table(heads, cells, "", (0, 2, 3, 4), mine, members=mentions_of(rows))


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
    return f"{who} has points{about} here yet. Yours can be the first."


def _board_title(board: Board) -> str:
    of = "" if board.contest == "points" else _CONTESTS[board.contest][0].lower()
    return joined(board.title, of, board.topic)


def _board_summary(board: Board) -> str:
    if board.rows:
        leader = f"{board.rows[0].name} leads with {_merit(board.rows[0])}."
    else:
        leader = "Nobody yet." if board.contest == "improved" else "No points yet."
    mine = f" You are ranked {board.mine.rank} of {board.total}." if board.mine else ""
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
    """Returns the time until the board starts over, such as `Ends in 3 h 12 min`; empty if it does not."""
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
    """Says which rank the reader has, and how far it is to the next one."""
    if board.mine is None:
        return (
            "You are not on this board: you have no points on it yet, or you are hidden. Your own page shows which."
            if board.contest == "points"
            else "You are not on this board."
        )
    mine = board.mine
    where = f"You are ranked {mine.rank} of {board.total:,} with {_merit(mine)}."
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
        (str(row.rank), row.name, _ms(row.time), _mb(row.memory), f"{row.better_than}%" if board.total > 1 else "–")
        for row in board.rows
    )
    mine = next((place for place, row in enumerate(board.rows) if row.me), None)
    by = "CPU time" if board.by == "time" else "memory"
    columns = ("Place", "Name", "CPU time", "Memory", "Better than")
    caption = f"{board.question}, by {by}"
    return (Table(columns, rows, caption, (0, 2, 3, 4), mine, _measured(board, caption)),)


MEASURED_PLACES = 8
"""Places of a speed board whose error is drawn."""


def _measured(board: MeasurementBoard, title: str) -> MeasuredChart:
    """Returns the first places, the reader's own, and the reference, each with its error."""
    shown = [row for at, row in enumerate(board.rows) if at < MEASURED_PLACES or row.me]
    places = [f"you · place {row.rank} · " if row.me else f"place {row.rank} · " for row in shown]
    drawn = [*zip((row.name for row in shown), places, strict=True), ("Reference", "")]
    measured: list[MeasuredRow | MeasurementBoard] = [*shown, board]
    spreads = [one.time if board.by == "time" else one.memory for one in measured]
    words = _ms if board.by == "time" else _mb
    top = _round_up(max(spread.high for spread in spreads))
    rows = tuple(
        RangeRow(label, spread.median / top, f"{place}{words(spread)}", (spread.low / top, spread.high / top))
        for (label, place), spread in zip(drawn, spreads, strict=True)
    )
    unit = "ms" if board.by == "time" else "MiB"
    ticks = tuple(f"{top * quarter / 4:,g} {unit}" if quarter else "0" for quarter in range(5))
    legend = f"Mark: the median. Bar: its {percent(board.confidence)} confidence interval."
    return MeasuredChart(title, rows, ticks, legend)


def _round_up(value: float) -> float:
    """Returns the next round number, for the end of a scale."""
    power = 10.0 ** math.floor(math.log10(max(value, 0.01)))
    return next(digit * power for digit in (1, 2, 4, 6, 8, 10, 20) if digit * power >= value)


def _about(board: MeasurementBoard) -> tuple[Block, ...]:
    hidden = board.total - len(board.rows)
    sentences = [
        f"Medians of {plural(board.runs, 'run')} on fresh inputs after the close, with their "
        f"{percent(board.confidence)} confidence intervals. Places are shared where intervals overlap.",
        f"The reference took {_ms(board.time)} and {_mb(board.memory)}.",
    ]
    if hidden > 0:
        sentences.append(f"{plural(hidden, 'more answer is', 'more answers are')} not listed.")
    if board.unsteady:
        sentences.append(f"{plural(board.unsteady, 'answer')} passed the round but not every run, and left the board.")
    return (Small(" ".join(sentences)),)


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


SHOWN = 10
"""Members of a final board that are shown."""
NO_NAME: Final = "Give the season a name, such as Autumn."
NO_ROLES: Final = "Only Discord has roles that a bot can give. Type the command there."
_WINNERS: Final[Mapping[WinnerOf, tuple[str, str]]] = {
    "season": ("the winner of a season", "When a season ends, its winner gets"),
    "sprint": ("the winner of a sprint", "When a sprint ends, its winner gets"),
    "tournament": ("the winning team of a tournament", "When a tournament ends, the members of the winning team get"),
}
"""Who gets the role, and how that is said as a promise."""
_ROLE_PROBLEMS: Final[Mapping[RoleProblem, str]] = {
    "unknown": "There is no such role on this server any more. Choose another one.",
    "not to be given": "This role cannot be assigned: it belongs to everyone or to another app. Choose another one.",
    "a moderator's": "It has rights of a moderator, which I give to nobody. Choose a role without them.",
    "no permission": "I lack **Manage Roles**. Open Server Settings, then Roles, and allow it for my role.",
    "too high": "It is not below my own role. Open Server Settings, then Roles, and drag my role above it.",
}


def role_problem_words(problem: RoleProblem) -> str:
    """Explains why the bot cannot give a role, and what to do, as Markdown."""
    return _ROLE_PROBLEMS[problem]


def winner_name(event: WinnerOf) -> str:
    """Names the winner of such events, as the beginning of a sentence."""
    name = _WINNERS[event][0]
    return f"{name[:1].upper()}{name[1:]}"


def winner_role_card(view: WinnerRoleView, problem: RoleProblem | None = None) -> Card:
    """Says what the winners of such an event get, and what keeps the bot from giving it."""
    who, promise = winner_name(view.event), _WINNERS[view.event][1]
    if not view.role:
        text = f"{who} gets no role. Name one with `/quiz-admin {view.event} role`."
        return Card("Winner's role", f"{who} gets no role.", (Text(text),))
    text = (
        f"{promise} this role, and those who had it from me before lose it. The winner is announced in "
        f"{escape(view.channel_name)}."
    )
    # The award only names the role here: nothing posts this card from the outbox.
    card = Card("Winner's role", f"{who} gets a role.", (Text(text),), award=Award(view.role, ("",)))
    if problem is None:
        return card
    warning = Text(f"**I cannot give this role yet.** {role_problem_words(problem)}")
    return replace(card, blocks=(warning, *card.blocks))


def winner_card(post: WinnerPost) -> Card:
    """Announces the winners of a season, sprint or tournament."""
    best = min((row.rank for row in post.top), default=0)
    names = [row.name for row in post.top if row.rank == best] or [team_name(team) for team in post.teams]
    won = "win" if len(names) > 1 else "wins"
    head = f"{and_list(names)} {won} the {post.event} {post.season}".rstrip()
    award = Award(post.role, post.winners, post.former)
    if not post.top:
        text = f"**{and_list([escape(name) for name in names])}** {won}. Congratulations to everyone in it!"
        return Card(head, f"{head}.", (Text(text),), award=award)
    points = plural(post.top[0].points, "point")
    text = f"**{and_list([escape(name) for name in names])}** {won} with {points}. Congratulations!"
    rows = tuple((str(row.rank), row.name, str(row.points)) for row in post.top)
    table = Table(("Rank", "Name", "Points"), rows, f"The best of {post.season or 'the sprint'}", (0, 2))
    places = tuple(
        PodiumPlace(row.rank, row.name, plural(row.points, "point")) for row in post.top if row.rank <= PODIUM_PLACES
    )
    return Card(
        head,
        f"{head}, with {points}.",
        (Charted(text, PodiumChart(places)), table),
        award=award,
    )
