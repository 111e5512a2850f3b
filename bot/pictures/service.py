"""Pictures for cards, made beside the event loop: kept while wanted often, given up when they take too long."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import IO, cast

from bot.core.cards import Bar, Bars, Block, Card, Picture, Reply, Small, Table, Text
from bot.core.dispatcher import Answer, Platform, Target
from bot.core.events import Event
from bot.core.markup import escape, parse
from bot.core.markup.math import to_unicode
from bot.core.markup.parser import outer_parts
from bot.core.markup.tree import Blocks, Math, Paragraph
from bot.core.rendering import bar_words, line_of, short
from bot.pictures.spec import (
    MOST_PLACES,
    BoardDrawing,
    BoardPlace,
    ChoiceBar,
    DistributionDrawing,
    Drawing,
    FormulaDrawing,
    ProgressDrawing,
    Week,
    as_data,
)
from bot.pictures.which import formulas_in, reads_badly
from service.wire import Platform as PlatformName

# A process that draws: started when first asked, killed when it takes too long, started anew after that.
#
# A process, because a drawing takes a tenth of a second of Python that no chat should wait for, and because a
# stranger's formula that never ends can be stopped in no other way.


_START_S = 30.0
_READY = b"ready\n"
_FAILURES_KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "TEMP",
    "SYSTEMROOT",
    "MPLCONFIGDIR",
    "XDG_CACHE_HOME",
    "VIRTUAL_ENV",
)


class CannotDraw(Exception):
    """There is no picture of this; the message says why."""


class CannotStart(Exception):
    """Nothing can be drawn on this machine; the message says why."""


class Painter:
    """Draws one thing after another; to be used by one thread at a time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def drawn(self, drawing: Drawing) -> bytes:
        """The PNG. Raises CannotDraw or CannotStart."""
        process = self._running()
        try:
            return self._asked(process, drawing)
        except (OSError, ValueError) as error:
            self.close()
            raise CannotDraw(f"no picture came within {self._limit_s:g} s, or the process died") from error

    def interrupt(self) -> None:
        """From another thread: end what is being drawn, which then raises CannotDraw."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; the next drawing starts another."""
        if self._process is not None:
            _ended(self._process)
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _started()
        return self._process

    def _asked(self, process: subprocess.Popen[bytes], drawing: Drawing) -> bytes:
        asked, told = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        with _killing(process, self._limit_s):
            asked.write(json.dumps(as_data(drawing)).encode() + b"\n")
            asked.flush()
            # A process that was killed ends its output, and what came is no JSON or too short.
            head = json.loads(told.readline())
            png = told.read(head["size"])
        if "error" in head:
            raise CannotDraw(head["error"])
        if len(png) < head["size"]:
            raise ValueError("the picture is not whole")
        return png


@contextmanager
def _killing(process: subprocess.Popen[bytes], limit_s: float) -> Iterator[None]:
    """Kills a process that is not done when the time is up."""
    timer = threading.Timer(limit_s, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _started() -> subprocess.Popen[bytes]:
    """A process that is ready. It is given no secrets: strangers' formulas are read in it."""
    environment = {name: os.environ[name] for name in _FAILURES_KEPT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.pictures.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Ctrl-C and a supervisor's signals are for the bot, which then ends its painter.
        start_new_session=True,
    )
    with _killing(process, _START_S):
        ready = cast(IO[bytes], process.stdout).readline()
    if ready != _READY:
        _ended(process)
        raise CannotStart("the process that draws did not start; its own output says why")
    return process


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


# What of a card is drawn, and the card with its pictures: the one place that decides it, for every chat.
#
# A board, a distribution and a member's weeks become a picture with their numbers in a quiet line, for a reader of the
# text alone and for the chat's search; a formula that Unicode says badly takes the place of its words, now its alt.


_MOST_CHOICES = 10
_NAME, _LABEL = 60, 80
_LTR = "\N{LEFT-TO-RIGHT MARK}"
"""After a stranger's words: what follows them stays where it is, though they run from right to left."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a card: the blocks that say it, and where it can be drawn its drawing and the blocks around that."""

    words: tuple[Block, ...]
    drawing: Drawing | None = None
    alt: str = ""
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()


def drawings_of(card: Card) -> tuple[Drawing, ...]:
    """All there is to draw of a card, each once."""
    return tuple(dict.fromkeys(part.drawing for part in _parts(card) if part.drawing is not None))


def with_pictures(card: Card, drawn: Mapping[Drawing, bytes]) -> Card:
    """The card with what was drawn; the rest of it stays in words."""
    blocks: list[Block] = []
    for part in _parts(card):
        png = drawn.get(part.drawing) if part.drawing is not None else None
        blocks += part.words if png is None else (*part.above, Picture(png, part.alt), *part.below)
    return replace(card, blocks=tuple(blocks))


def _parts(card: Card) -> Iterator[_Part]:
    for block in card.blocks:
        match block:
            case Text(markdown) if "$" in markdown or "\\" in markdown:
                yield from _text(markdown)
            case Bars(rows) if 0 < len(rows) <= _MOST_CHOICES:
                yield _distribution(block)
            case Table(shows="board", rows=rows) if rows:
                yield _board(block, card.title)
            case Table(shows="weeks", rows=rows) if rows:
                yield _progress(block)
            case _:
                yield _Part((block,))


def _board(table: Table, title: str) -> _Part:
    places = tuple(
        BoardPlace(rank, line_of(name, _NAME), int(points), right, streak, at == table.mine)
        for at, (rank, name, points, _, right, streak) in enumerate(table.rows[:MOST_PLACES])
    )
    rest = f" … and {len(table.rows) - MOST_PLACES} more" if len(table.rows) > MOST_PLACES else ""
    said = [
        f"rank {place.rank}, {place.name}{_LTR}{' (you)' if place.mine else ''}: {place.points:,} points, "
        f"{place.right} right, streak {place.streak}"
        for place in places
    ]
    line = " · ".join(f"{place.rank}. {escape(place.name)}{_LTR} {place.points:,}" for place in places)
    heading = line_of(title, 150)
    return _Part(
        (table,),
        BoardDrawing(places),
        f"{heading}. {'; '.join(said)}.",
        below=(Small(f"Points: {line}{rest}"),),
    )


def _distribution(bars: Bars) -> _Part:
    choices = tuple(ChoiceBar(short(row.label, _LABEL), row.count, row.share, row.mark) for row in bars.rows)
    line = " · ".join(map(_bar_line, bars.rows))
    said = [f"{_numbers(row)} {short(row.label, _LABEL)}{_LTR}" for row in bars.rows]
    return _Part((bars,), DistributionDrawing(choices), f"Answers: {'; '.join(said)}", below=(Small(line),))


def _numbers(row: Bar) -> str:
    return bar_words(row)[0]


def _bar_line(row: Bar) -> str:
    numbers, label = bar_words(row)
    return f"{numbers} {escape(label)}{_LTR}"


def _progress(table: Table) -> _Part:
    weeks = tuple(_week(*row) for row in table.rows)
    said = [
        f"{week.label}: {week.points:,} points, {week.answers} answers" + (f", {share} right" if week.answers else "")
        for week, (*_, share) in zip(weeks, table.rows, strict=True)
    ]
    line = " · ".join(f"{escape(week.label)} {week.points:,}" for week in weeks)
    return _Part(
        (table,), ProgressDrawing(weeks), f"Points by week. {'; '.join(said)}.", below=(Small(f"Points: {line}"),)
    )


def _week(label: str, points: str, answers: str, right: str) -> Week:
    return Week(label, int(points), int(answers), right)


def _text(markdown: str) -> Iterator[_Part]:
    """The text as it is, or cut so that each formula that wants a picture has it in its place."""
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
    """The formula, where a part is nothing else."""
    match blocks:
        case (Paragraph((Math() as math,)),):
            return math
    return None


def _drawing_of(found: list[Math]) -> FormulaDrawing:
    return FormulaDrawing(tuple(dict.fromkeys(math.source.strip() for math in found)))


def _formula_alt(found: list[Math]) -> str:
    said = [f"{'; '.join(to_unicode(math.source).split(chr(10)))} (in LaTeX: {math.source.strip()})" for math in found]
    return f"Formula{'s' if len(said) > 1 else ''}: {'; '.join(said)}"


_LOG = logging.getLogger(__name__)

_WAIT_S = 6.0
_DRAW_S = 3.0
_KEPT = 256
# When thousands of rounds close in the same minute, words in time are better than pictures late.
_MOST_WAITING = 4


@dataclass(frozen=True, slots=True)
class _Illustrated:
    """A chat whose cards get their pictures on the way."""

    platform: Platform
    pictures: Pictures

    @property
    def name(self) -> PlatformName:
        return self.platform.name

    async def post(self, target: Target, card: Card, key: str) -> str:
        return await self.platform.post(target, await self.pictures.illustrated(card), key)

    async def find(self, target: Target, key: str) -> str | None:
        return await self.platform.find(target, key)


class Pictures:
    """Illustrates cards; one for a process of the bot. Close it at the end."""

    def __init__(self, *, wait_s: float = _WAIT_S, draw_s: float = _DRAW_S, kept: int = _KEPT) -> None:
        """A card waits at most `wait_s` for its pictures; one picture may take `draw_s`; `kept` are remembered."""
        self._wait_s = wait_s
        self._most = kept
        self._kept: OrderedDict[Drawing, bytes | None] = OrderedDict()
        self._lock = threading.Lock()
        self._painter = Painter(draw_s)
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._possible = find_spec("matplotlib") is not None
        if not self._possible:
            _LOG.info(
                "matplotlib is not installed, so cards come without pictures; the extras discord and slack have it"
            )

    async def illustrated(self, card: Card) -> Card:
        """The card with pictures in it and the words that are still wanted beside them. Never raises.

        What cannot be drawn, or not in time, or while others wait for theirs, stays in words; a card without anything
        to draw comes back as it is.
        """
        try:
            wanted = drawings_of(card) if self._possible else ()
            if not wanted:
                return card
            drawn: dict[Drawing, bytes] = {}
            await self._draw(wanted, drawn)
            return with_pictures(card, drawn) if drawn else card
        except Exception:  # a card must be sent whatever happens to its pictures
            _LOG.warning("a card goes without its pictures", exc_info=True)
            return card

    def answering(self, answer: Answer) -> Answer:
        """The same answers, with pictures in their cards."""

        async def illustrated(event: Event) -> Reply:
            reply = await answer(event)
            return replace(reply, said=await self.illustrated(reply.said)) if isinstance(reply.said, Card) else reply

        return illustrated

    def posting(self, platform: Platform) -> Platform:
        """The same chat, with pictures in the cards that are posted there."""
        return _Illustrated(platform, self)

    async def _draw(self, wanted: tuple[Drawing, ...], drawn: dict[Drawing, bytes]) -> None:
        try:
            async with asyncio.timeout(self._wait_s):
                for drawing in wanted:
                    # One that nobody waits for any longer is not begun.
                    known, png = self._remembered(drawing)
                    if not known and self._waiting >= _MOST_WAITING:
                        continue
                    png = png if known else await self._queued(drawing)
                    if png is not None:
                        drawn[drawing] = png
        except TimeoutError:
            _LOG.warning(
                "%d of %d pictures were not ready in time; their words stand", len(wanted) - len(drawn), len(wanted)
            )

    async def _queued(self, drawing: Drawing) -> bytes | None:
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._drawn, drawing)
        finally:
            self._waiting -= 1

    def _remembered(self, drawing: Drawing) -> tuple[bool, bytes | None]:
        with self._lock:
            if drawing not in self._kept:
                return False, None
            self._kept.move_to_end(drawing)
            return True, self._kept[drawing]

    def _drawn(self, drawing: Drawing) -> bytes | None:
        """In the thread: what another card had drawn meanwhile, or a new picture, or None where there is none."""
        known, png = self._remembered(drawing)
        if known or not self._possible:
            return png
        try:
            png = self._painter.drawn(drawing)
        except CannotDraw as error:
            _LOG.info("no picture (%s): %s; its words stand", type(drawing).__name__, error)
        except CannotStart as error:
            self._possible = False
            _LOG.error("no pictures until the bot is started again: %s", error)
            return None
        self._remember(drawing, png)
        return png

    def _remember(self, drawing: Drawing, png: bytes | None) -> None:
        """Keep the picture, or that there is none."""
        with self._lock:
            self._kept[drawing] = png
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    async def close(self) -> None:
        """Give up what is being drawn and end the process that draws."""
        await asyncio.to_thread(self._closed)

    def _closed(self) -> None:
        self._painter.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._painter.close()
