"""Pictures for cards, made beside the event loop: kept while wanted often, given up when they take too long."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec

from bot.core.cards import Card, Reply
from bot.core.events import Event
from bot.core.platform import Answer, Platform, Target
from bot.pictures.drawings import Drawing
from bot.pictures.illustrating import drawings_of, with_pictures
from bot.pictures.painter import CannotDraw, CannotStart, Painter
from service.wire import Platform as PlatformName

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
