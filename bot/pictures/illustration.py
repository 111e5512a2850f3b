"""Illustrates cards without blocking the event loop: replaces what is clearer as a picture, in every chat.

Leaderboards, distributions and weekly progress become pictures; their numbers stay in small print for text-only
readers and for search. A formula that Unicode cannot show well is replaced by a picture, with its text as alt text.
Pictures are drawn by `drawing_process` and cached. What is not drawn in time stays text.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec

from bot.core.cards import Bar, Bars, Block, Card, Charted, Picture, Reply, Small, Table, Text
from bot.core.charts import (
    LEVELS,
    BoardChart,
    BoardPlace,
    Chart,
    ChoiceBar,
    DigestChart,
    DistributionChart,
    Drawing,
    FormulaDrawing,
    HeatmapChart,
    HeatWeek,
    MeasuredChart,
    PodiumChart,
    RangeRow,
    RangesChart,
    Week,
    WeeksChart,
)
from bot.core.dispatcher import Answer, Platform, Target
from bot.core.events import Event
from bot.core.markup import escape, parse
from bot.core.markup.math import to_unicode
from bot.core.markup.parser import outer_parts
from bot.core.markup.tree import Blocks, Math, Paragraph
from bot.core.rendering import bar_words, line_of, short
from bot.core.text.words import plural
from bot.pictures.drawing_process import CannotDraw, CannotStart, DrawingProcess
from bot.pictures.legibility import formulas_in, reads_badly
from service.wire import Platform as PlatformName

_LOG = logging.getLogger(__name__)

_WAIT_S = 6.0
"""Longest wait for the pictures of a card, seconds."""
_DRAW_S = 3.0
"""Longest time of one drawing, seconds."""
_KEPT = 256
"""Cached pictures; those not used for longest are dropped first."""
_MOST_WAITING = 4
"""Drawings that may wait for the process. If thousands of rounds close in the same minute, text in time is better than
pictures late."""
_NATIVE = (BoardChart, DistributionChart, WeeksChart, RangesChart)
"""What a chat with tables and charts of its own shows without a picture."""
_MOST_CHOICES = 10
"""Bars of a distribution, up to which it is drawn."""
_NAME, _LABEL = 60, 80
"""Longest name and longest label in a picture, characters."""
_LTR = "\N{LEFT-TO-RIGHT MARK}"
"""Put after untrusted text, so that right-to-left words do not reorder what follows."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a card: its text version, and if it can be drawn, the drawing and the blocks around it."""

    words: tuple[Block, ...]
    drawing: Drawing | None = None
    alt: str = ""
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()


def drawings_of(card: Card) -> tuple[Drawing, ...]:
    """Returns the drawings of a card without duplicates."""
    return tuple(dict.fromkeys(part.drawing for part in _parts(card) if part.drawing is not None))


def with_pictures(card: Card, drawn: Mapping[Drawing, bytes]) -> Card:
    """Returns the card with the drawn pictures; other parts stay text."""
    blocks: list[Block] = []
    for part in _parts(card):
        png = drawn.get(part.drawing) if part.drawing is not None else None
        blocks += part.words if png is None else (*part.above, Picture(png, part.alt), *part.below)
    return replace(card, blocks=tuple(blocks))


def _parts(card: Card) -> Iterator[_Part]:
    for block in card.blocks:
        match block:
            case Charted(chart=chart) if chart is not None:
                # The words stay: they say more than the picture.
                yield _charted(block, chart, (block,))
            case Table(chart=chart) if chart is not None:
                yield _charted(block, chart, ())
            case Text(markdown) if "$" in markdown or "\\" in markdown:
                yield from _text(markdown)
            case Bars(rows) if 0 < len(rows) <= _MOST_CHOICES:
                yield _distribution(block)
            case _:
                yield _Part((block,))


def _charted(block: Table | Charted, chart: Chart, below: tuple[Block, ...]) -> _Part:
    """Returns a block with its chart, whose untrusted texts are cut to one line each."""
    match chart:
        case BoardChart(places):
            chart = BoardChart(tuple(replace(place, name=line_of(place.name, _NAME)) for place in places))
            below = (*below, Small(_points_line(chart, block)))
        case WeeksChart(weeks):
            line = " · ".join(f"{escape(week.label)} {week.points:,}" for week in weeks)
            below = (*below, Small(f"Points: {line}"))
        case PodiumChart(places):
            chart = PodiumChart(tuple(replace(place, name=line_of(place.name, _NAME)) for place in places))
        case RangesChart(rows=rows, legend=legend):
            chart = replace(chart, rows=tuple(map(_cut, rows)))
            below = (*below, Small(legend))
        case MeasuredChart(rows=rows, legend=legend):
            # The table stays: it has both the time and the memory.
            chart = replace(chart, rows=tuple(map(_cut, rows)))
            below = (block, Small(legend))
        case DigestChart(hardest=hardest, weakest=weakest):
            chart = replace(chart, hardest=hardest and _cut(hardest), weakest=tuple(map(_cut, weakest)))
    return _Part((block,), chart, _alt(chart), below=below)


def _cut(row: RangeRow) -> RangeRow:
    return replace(row, label=line_of(row.label, _LABEL))


def _points_line(board: BoardChart, block: Table | Charted) -> str:
    """Returns the points of each member, who is mentioned where the chat does that: a picture mentions nobody."""
    table = block if isinstance(block, Table) else Table((), ())
    mentions = table.members or ("",) * len(board.places)
    line = " · ".join(
        f"{place.rank}. {mention or escape(place.name)}{_LTR} {place.points:,}"
        for place, mention in zip(board.places, mentions, strict=False)
    )
    left = len(table.rows) - len(board.places)
    return f"Points: {line}" + (f" … and {left} more" if left > 0 else "")


def _alt(chart: Chart) -> str:
    """Returns all that a picture says, in words."""
    match chart:
        case BoardChart(places):
            return f"Leaderboard: {'; '.join(map(_place_words, places))}."
        case WeeksChart(weeks):
            return f"Points by week. {'; '.join(map(_week_words, weeks))}."
        case PodiumChart(places):
            parts_words = "; ".join(f"place {place.rank}, {place.name}{_LTR}: {place.score}" for place in places)
            return f"The podium: {parts_words}."
        case RangesChart(title, rows) | MeasuredChart(title, rows):
            return f"{title}. {'; '.join(map(_row_words, rows))}."
        case HeatmapChart(weeks):
            return f"Heatmap of the last {len(weeks)} weeks. {'; '.join(map(_days_words, weeks))}."
        case DigestChart(members, before, hardest, weakest):
            parts = [f"{plural(members, 'member')} answered, {before} the week before"]
            parts += [f"hardest question {_row_words(hardest)}"] if hardest else []
            parts += [f"weak topic {_row_words(row)}" for row in weakest]
            return f"The week: {'; '.join(parts)}."
        case DistributionChart(choices):
            parts_words = "; ".join(f"{one.count} {one.label}{_LTR}" for one in choices)
            return f"Answers: {parts_words}"


def _place_words(place: BoardPlace) -> str:
    you = " (you)" if place.mine else ""
    return (
        f"rank {place.rank}, {place.name}{_LTR}{you}: {place.points:,} points, {place.right} right, "
        f"streak {place.streak}"
    )


def _week_words(week: Week) -> str:
    right = f", {week.right} right" if week.answers else ""
    return f"{week.label}: {week.points:,} points, {week.answers} answers{right}"


def _row_words(row: RangeRow) -> str:
    return f"{row.label}{_LTR}: {row.note}"


def _days_words(week: HeatWeek) -> str:
    counts = [(label.lower(), week.days.count(level)) for level, label in LEVELS.items()]
    counted = ", ".join(f"{count} {label}" for label, count in counts if count)
    return f"week of {week.label}: {counted or 'no question'}"


def _distribution(bars: Bars) -> _Part:
    choices = tuple(ChoiceBar(short(row.label, _LABEL), row.count, row.share, row.mark) for row in bars.rows)
    line = " · ".join(map(_bar_line, bars.rows))
    answers = [f"{_numbers(row)} {short(row.label, _LABEL)}{_LTR}" for row in bars.rows]
    return _Part((bars,), DistributionChart(choices), f"Answers: {'; '.join(answers)}", below=(Small(line),))


def _numbers(row: Bar) -> str:
    return bar_words(row)[0]


def _bar_line(row: Bar) -> str:
    numbers, label = bar_words(row)
    return f"{numbers} {escape(label)}{_LTR}"


def _text(markdown: str) -> Iterator[_Part]:
    """Splits Markdown so that each formula that needs a picture is a part of its own."""
    hard = [math for math in formulas_in(parse(markdown).blocks) if reads_badly(math)]
    if not hard:
        yield _Part((Text(markdown),))
        return
    held = ""
    for source, blocks in outer_parts(markdown):
        math = _alone(blocks)
        found = [math] if math else [one for one in formulas_in(blocks) if reads_badly(one)]
        if not found or (math and not reads_badly(math)):
            held += source
            continue
        if held.strip():
            yield _Part((Text(held),))
        held = ""
        above = () if math else (Text(source),)
        yield _Part((Text(source),), _drawing_of(found), _formula_alt(found), above)
    if held.strip():
        yield _Part((Text(held),))


def _alone(blocks: Blocks) -> Math | None:
    """Returns the formula if the part contains nothing else."""
    match blocks:
        case (Paragraph((Math() as math,)),):
            return math
    return None


def _drawing_of(found: list[Math]) -> FormulaDrawing:
    return FormulaDrawing(tuple(dict.fromkeys(math.source.strip() for math in found)))


def _formula_alt(found: list[Math]) -> str:
    texts = [f"{'; '.join(to_unicode(math.source).split(chr(10)))} (in LaTeX: {math.source.strip()})" for math in found]
    return f"Formula{'s' if len(texts) > 1 else ''}: {'; '.join(texts)}"


@dataclass(frozen=True, slots=True)
class _IllustratedPlatform:
    """A platform that adds pictures to the cards it posts."""

    platform: Platform
    pictures: Pictures

    @property
    def name(self) -> PlatformName:
        return self.platform.name

    async def post(self, target: Target, card: Card, key: str) -> str:
        return await self.platform.post(target, await self.pictures.illustrated(card), key)

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        await self.platform.edit(target, await self.pictures.illustrated(card), ref, key)

    async def find(self, target: Target, key: str) -> str | None:
        return await self.platform.find(target, key)


class Pictures:
    """Adds pictures to cards. Create one per bot process and close it at the end."""

    def __init__(
        self, *, charts: bool = True, wait_s: float = _WAIT_S, draw_s: float = _DRAW_S, kept: int = _KEPT
    ) -> None:
        """Limits the wait for a card's pictures, the time of one drawing, and the number of cached pictures.

        Without `charts`, what such a chat shows natively is not drawn: tables and distributions.
        """
        self._charts = charts
        self._wait_s = wait_s
        self._most = kept
        self._kept: OrderedDict[Drawing, bytes | None] = OrderedDict()
        self._lock = threading.Lock()
        self._drawer = DrawingProcess(draw_s)
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._possible = find_spec("matplotlib") is not None
        if not self._possible:
            _LOG.info(
                "matplotlib is not installed, so cards have no pictures; it comes with the extras discord and slack"
            )

    async def illustrated(self, card: Card) -> Card:
        """Returns the card with pictures. Never raises.

        Parts stay text if they cannot be drawn, take too long, or too many drawings are queued. A card with nothing to
        draw is returned unchanged.
        """
        try:
            found = drawings_of(card) if self._possible else ()
            drawings = tuple(one for one in found if self._charts or not isinstance(one, _NATIVE))
            if not drawings:
                return card
            drawn: dict[Drawing, bytes] = {}
            await self._draw(drawings, drawn)
            return with_pictures(card, drawn) if drawn else card
        except Exception:  # the card must be sent in any case
            _LOG.warning("sending a card without its pictures", exc_info=True)
            return card

    def with_answers(self, answer: Answer) -> Answer:
        """Returns the answer function with pictures added to its cards."""

        async def illustrated(event: Event) -> Reply:
            reply = await answer(event)
            return (
                replace(reply, content=await self.illustrated(reply.content))
                if isinstance(reply.content, Card)
                else reply
            )

        return illustrated

    def with_posts(self, platform: Platform) -> Platform:
        """Returns the platform with pictures added to the cards it posts."""
        return _IllustratedPlatform(platform, self)

    async def _draw(self, drawings: tuple[Drawing, ...], drawn: dict[Drawing, bytes]) -> None:
        try:
            async with asyncio.timeout(self._wait_s):
                for drawing in drawings:
                    # Skip a drawing if the queue is full.
                    known, png = self._cached(drawing)
                    if not known and self._waiting >= _MOST_WAITING:
                        continue
                    png = png if known else await self._draw_in_thread(drawing)
                    if png is not None:
                        drawn[drawing] = png
        except TimeoutError:
            _LOG.warning(
                "%d of %d pictures were not ready in time; shown as text", len(drawings) - len(drawn), len(drawings)
            )

    async def _draw_in_thread(self, drawing: Drawing) -> bytes | None:
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._draw_cached, drawing)
        finally:
            self._waiting -= 1

    def _cached(self, drawing: Drawing) -> tuple[bool, bytes | None]:
        with self._lock:
            if drawing not in self._kept:
                return False, None
            self._kept.move_to_end(drawing)
            return True, self._kept[drawing]

    def _draw_cached(self, drawing: Drawing) -> bytes | None:
        """Returns the picture: one that another card has cached meanwhile, or a new one; None if it cannot be drawn.

        Runs in the drawing thread.
        """
        known, png = self._cached(drawing)
        if known or not self._possible:
            return png
        try:
            png = self._drawer.draw(drawing)
        except CannotDraw as error:
            _LOG.info("no picture (%s): %s; shown as text", type(drawing).__name__, error)
        except CannotStart as error:
            self._possible = False
            _LOG.error("no pictures until the bot is started again: %s", error)
            return None
        self._store(drawing, png)
        return png

    def _store(self, drawing: Drawing, png: bytes | None) -> None:
        """Caches a picture, or None for a failed one."""
        with self._lock:
            self._kept[drawing] = png
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    async def close(self) -> None:
        """Cancels running drawings and ends the child process."""
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._drawer.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._drawer.close()
