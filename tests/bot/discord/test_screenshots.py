"""Cards as Discord shows them, for people to look at: all in $DAILYGRAD_SCREENSHOTS, and those of the documentation.

The offline Discord's own pictures need `simcord[preview]`.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserType

from bot.core.cards import Card
from bot.core.dispatcher import Target
from bot.pictures import Pictures
from tests.bot.discord.simulated import Simulated
from tests.bot.samples import GALLERY
from tests.bot.showcase import QUESTION, REVEAL
from tests.bot.web.chromium import ARGUMENTS, CHROMIUM, needs_chromium

FOLDER = os.environ.get("DAILYGRAD_SCREENSHOTS", "")
SHOWN = [name for name, said in GALLERY.items() if isinstance(said, Card) and not name.endswith("drawn")]

IMAGES = Path(__file__).parents[3] / "docs" / "images"

pytestmark = [needs_chromium, pytest.mark.browser, pytest.mark.timeout(1200)]
needs_folder = pytest.mark.skipif(
    not FOLDER, reason="set DAILYGRAD_SCREENSHOTS to a folder to have pictures made there"
)


@pytest.fixture
def debians_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser simcord starts is the one that is there."""
    pytest.importorskip("linkify_it", reason="pip install simcord[preview] for pictures of the offline Discord")
    launch = BrowserType.launch

    async def launched(self: BrowserType, **options: Any) -> Browser:
        return await launch(self, executable_path=CHROMIUM, args=list(ARGUMENTS), **options)

    monkeypatch.setattr(BrowserType, "launch", launched)


@pytest.mark.usefixtures("debians_chromium")
@needs_folder
async def test_every_card_has_its_picture_taken(sim: Simulated) -> None:
    folder = Path(FOLDER) / "discord"
    names = [name for name in os.environ.get("DAILYGRAD_SCREENSHOTS_OF", "").split(",") if name] or SHOWN
    await taken(sim, {name: said for name in names if isinstance(said := GALLERY[name], Card)}, folder)


@pytest.mark.usefixtures("debians_chromium")
@pytest.mark.skipif("DAILYGRAD_IMAGES" not in os.environ, reason="`make pictures` takes those of the documentation")
async def test_pictures_of_the_documentation_are_taken(sim: Simulated) -> None:
    await taken(sim, {"discord-question": QUESTION, "discord-reveal": REVEAL}, IMAGES)


def test_pictures_of_the_documentation_exist_and_are_small() -> None:
    files = sorted(IMAGES.glob("discord-*.png"))
    assert [file.name for file in files] == ["discord-question.png", "discord-reveal.png"]
    assert all(file.stat().st_size < 150_000 for file in files)


async def taken(sim: Simulated, cards: dict[str, Card], folder: Path) -> None:
    """Post the cards, and have a picture of each of their messages."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    pictures = Pictures(wait_s=60, draw_s=30)
    try:
        async with sim.env.preview(sim.channel, viewers=[sim.ada], width=680, height=2600) as preview:
            for name, said in cards.items():
                card = await pictures.illustrated(said)
                before = {one.id for one in sim.channel.history()}
                with sim.env.time_context():
                    await sim.app.platform.post(Target(sim.workspace, str(sim.channel.id)), card, name)
                new = [one for one in sim.channel.history() if one.id not in before]
                for place, message in enumerate(new, start=1):
                    await preview.show(message)
                    more = f"-{place}" if place > 1 else ""
                    await preview.screenshot(folder / f"{name.replace(' ', '-')}{more}.png")
    finally:
        await pictures.close()
