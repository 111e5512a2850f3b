"""Pictures for cards, drawn by a real process: once each, in time or not at all, and never in the loop's way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]

from bot.core.cards import Card, Charted, Form, Picture, Reply, Table, Text
from bot.core.charts import BoardChart, BoardPlace, FormulaDrawing, HeatmapChart
from bot.core.dispatcher import Target
from bot.core.events import Command, Event, Visited
from bot.core.text import boards, members
from bot.pictures import Pictures
from bot.pictures.drawing_process import CannotDraw, DrawingProcess
from service.wire import Platform, Where, Who
from tests.bot.pictures.pixels import INK, count, pixels_of
from tests.bot.samples import CALIBRATION, CROWDED, GALLERY, HISTORY, ME, NOW

pytestmark = pytest.mark.slow

FORM = Form("t", "f:r1", ())
BOARD = boards.board_card(CROWDED)
# Fine by itself, and far more of it than any formula is: it takes seconds.
ENDLESS = FormulaDrawing(tuple(f"x_{{{n}}}^{{{n}}}" + r"+\sqrt{\sqrt{x}}" * 6 for n in range(3000)))


@pytest_asyncio.fixture
async def pictures() -> AsyncIterator[Pictures]:
    made = Pictures(wait_s=60, draw_s=60)
    yield made
    await made.close()


class Notebook:
    """A chat that writes down what is posted."""

    def __init__(self) -> None:
        self.name: Platform = "slack"
        self.posted: list[Card] = []

    async def post(self, target: Target, card: Card, key: str) -> str:
        self.posted.append(card)
        return f"ref {key}"

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        self.posted.append(card)

    async def find(self, target: Target, key: str) -> str | None:
        return f"found {key}"


def painters() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # another child that ends now
            if "bot.pictures.worker" in child.cmdline():
                found.append(child)
    return found


async def test_a_chat_with_tables_of_its_own_gets_pictures_only_of_what_it_cannot_show() -> None:
    """Three views of one board uploaded three files to Slack."""
    made = Pictures(charts=False, wait_s=60, draw_s=60)
    assert await made.illustrated(BOARD) is BOARD
    me = members.me_card(ME.model_copy(update={"calibration": CALIBRATION}), HISTORY)
    drawn = await made.illustrated(me)
    assert [type(block) for block in drawn.blocks] == [Table, Picture, Charted, *[type(one) for one in me.blocks[2:]]]
    assert sum(isinstance(block, Table) for block in drawn.blocks) == 4
    await made.close()


async def test_a_card_gets_its_pictures_and_keeps_its_buttons(pictures: Pictures) -> None:
    found = await pictures.illustrated(BOARD)
    (picture,) = [block for block in found.blocks if isinstance(block, Picture)]
    assert pixels_of(picture.png).shape[1] == 920
    assert (found.title, found.summary, found.buttons) == (BOARD.title, BOARD.summary, BOARD.buttons)


async def test_the_same_picture_is_drawn_once(pictures: Pictures) -> None:
    first = await pictures.illustrated(BOARD)
    (process,) = painters()
    process.send_signal(signal.SIGSTOP)
    try:
        assert await asyncio.wait_for(pictures.illustrated(BOARD), 60) == first
    finally:
        process.send_signal(signal.SIGCONT)


async def test_a_card_with_nothing_to_draw_comes_back_as_it_is(pictures: Pictures) -> None:
    said = GALLERY["help"]
    assert isinstance(said, Card)
    assert await pictures.illustrated(said) is said
    assert painters() == []


async def test_a_formula_that_cannot_be_drawn_stays_in_words_beside_one_that_can(pictures: Pictures) -> None:
    card = Card("t", "s", (Text(r"$$\underbrace{\sum_i x}_n$$" + "\n\nor\n\n" + r"$$\sum_{i=1}^n x$$"),))
    found = await pictures.illustrated(card)
    assert [type(block) for block in found.blocks] == [Text, Text, Picture]


async def test_the_loop_goes_on_while_a_picture_is_drawn(pictures: Pictures) -> None:
    await pictures.illustrated(Card("t", "s", (Text(r"$$\sum_{i=1}^n x$$"),)))
    (process,) = painters()
    process.send_signal(signal.SIGSTOP)
    try:
        drawing = asyncio.create_task(pictures.illustrated(BOARD))
        # A loop that waited for the stopped process would never come back from here.
        await asyncio.to_thread(process.status)
        assert not drawing.done()
    finally:
        process.send_signal(signal.SIGCONT)
    assert isinstance((await drawing).blocks[0], Picture)


async def test_under_load_cards_are_sent_without_pictures(pictures: Pictures) -> None:
    cards = [Card("t", "s", (Text(f"$$\\sum_{{i=1}}^{{{n}}} x$$"),)) for n in range(12)]
    found = await asyncio.gather(*map(pictures.illustrated, cards))
    assert [said is card for said, card in zip(found, cards, strict=True)] == [False] * 4 + [True] * 8
    assert await pictures.illustrated(cards[-1]) is not cards[-1]


async def test_a_slow_picture_is_not_awaited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pictures = Pictures(wait_s=0.001)
    try:
        with caplog.at_level(logging.WARNING):
            assert await pictures.illustrated(BOARD) is BOARD
        assert "not ready in time" in caplog.text
    finally:
        await pictures.close()
    assert painters() == []


def test_a_drawing_that_does_not_end_is_killed_and_the_next_one_drawn() -> None:
    drawer = DrawingProcess(1.0)
    try:
        with pytest.raises(CannotDraw, match="within 1 s"):
            drawer.draw(ENDLESS)
        # The same second may be too short for a busy machine.
        while True:
            with contextlib.suppress(CannotDraw):
                assert drawer.draw(FormulaDrawing(("x",))).startswith(b"\x89PNG")
                break
    finally:
        drawer.close()


def test_a_process_that_dies_is_started_again() -> None:
    drawer = DrawingProcess(60.0)
    try:
        first = drawer.draw(FormulaDrawing(("x",)))
        (process,) = painters()
        process.kill()
        process.wait()
        assert drawer.draw(FormulaDrawing(("x",))) == first
    finally:
        drawer.close()
    assert painters() == []


def test_the_process_is_given_no_secrets() -> None:
    os.environ["DISCORD_TOKEN"] = "secret"
    drawer = DrawingProcess(60.0)
    try:
        drawer.draw(FormulaDrawing(("x",)))
        (process,) = painters()
        assert "DISCORD_TOKEN" not in process.environ()
    finally:
        del os.environ["DISCORD_TOKEN"]
        drawer.close()


def test_only_the_process_that_draws_imports_matplotlib() -> None:
    code = "import sys, bot.pictures; sys.exit('matplotlib' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


async def test_a_chart_that_cannot_be_drawn_does_not_lose_the_card(
    pictures: Pictures, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    card = Card("t", "s", (Charted("No weeks", HeatmapChart((), ())),))
    assert await pictures.illustrated(card) is card
    assert "no picture (HeatmapChart)" in caplog.text


def test_one_drawing_after_another_from_the_same_process() -> None:
    drawer = DrawingProcess(60.0)
    try:
        found = [drawer.draw(BoardChart((BoardPlace(1, "Ann", n, "1%", 1),))) for n in range(3)]
        assert len(set(found)) == 3
        assert len(painters()) == 1
    finally:
        drawer.close()


async def test_answers_and_posts_get_their_pictures_on_the_way(pictures: Pictures) -> None:
    async def answer(event: Event) -> Reply:
        return Reply(BOARD if isinstance(event, Command) else FORM, replaces=True)

    where = Who(platform="slack", workspace="T1", member="U1", name="Ann"), Where(channel="C1")
    command = Command("e1", NOW, *where, "quiz", "board")
    reply = await pictures.with_answers(answer)(command)
    assert isinstance(reply.content, Card)
    assert isinstance(reply.content.blocks[0], Picture)
    assert reply.replaces
    assert await pictures.with_answers(answer)(Visited("e2", NOW, *where)) == Reply(FORM, replaces=True)

    chat = Notebook()
    posting = pictures.with_posts(chat)
    assert posting.name == "slack"
    assert await posting.post(Target("T1", "C1"), BOARD, "k") == "ref k"
    assert chat.posted == [reply.content]
    assert await posting.find(Target("T1", "C1"), "k") == "found k"


def test_the_drawing_process_ends_quietly_if_its_bot_is_killed() -> None:
    words = [sys.executable, "-m", "bot.pictures.worker"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as drawer:
        assert drawer.stdin
        assert drawer.stdout
        assert drawer.stderr
        assert drawer.stdout.readline() == b"ready\n"
        drawer.stdout.close()
        drawer.stdin.write(b"{}\n")
        drawer.stdin.close()
        assert drawer.wait(60) == 0
        assert drawer.stderr.read() == b""


NOBODYS = "\U000f0001"
"""A character for private use, which no font on the machine has."""


def write_font(file: Path, family: str) -> None:
    """Writes a font whose only character is a full block."""
    pen = TTGlyphPen(None)
    for step, corner in enumerate(((0, 0), (0, 800), (900, 800), (900, 0))):
        (pen.lineTo if step else pen.moveTo)(corner)
    pen.closePath()
    font = FontBuilder(1000)
    font.setupGlyphOrder([".notdef", "block"])
    font.setupCharacterMap({ord(NOBODYS): "block"})
    font.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "block": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (500, 0), "block": (1000, 0)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": family, "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    file.parent.mkdir()
    font.save(file)


def test_a_character_is_drawn_with_the_first_font_that_has_it_even_one_installed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """matplotlib keeps a list of fonts in its cache and never looks again."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    board = BoardChart((BoardPlace(1, f"Ann {NOBODYS}", 10, "100%", 7, False),))

    def drawn() -> int:
        process = DrawingProcess(60)
        try:
            return count(pixels_of(process.draw(board)), INK)
        finally:
            process.close()

    square = drawn()
    write_font(tmp_path / "fonts" / "block.ttf", "TakaoGothic")
    assert drawn() > square + 300
