"""Cards and forms as the preview draws them: all in $DAILYGRAD_SCREENSHOTS, and those of the documentation."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.core.cards import Card, Form
from bot.pictures import Pictures
from bot.preview.scenes import Scene, page_html
from tests.bot.samples import GALLERY
from tests.bot.showcase import ANSWER, BOARD, QUESTION, REVEAL
from tests.bot.web.chromium import needs_chromium, opened_chromium

FOLDER = os.environ.get("DAILYGRAD_SCREENSHOTS", "")

IMAGES = Path(__file__).parents[3] / "docs" / "images"

pytestmark = [pytest.mark.slow, needs_chromium, pytest.mark.browser, pytest.mark.timeout(1800)]
needs_folder = pytest.mark.skipif(
    not FOLDER, reason="set DAILYGRAD_SCREENSHOTS to a folder to have pictures made there"
)


@needs_folder
@pytest.mark.parametrize("chat", ["slack", "discord"])
async def test_every_card_and_form_has_its_picture_taken(chat: str) -> None:
    shown = {name: said for name, said in GALLERY.items() if not name.endswith("drawn")}
    await taken(chat, shown, Path(FOLDER) / f"{chat}-preview")


@pytest.mark.skipif("DAILYGRAD_IMAGES" not in os.environ, reason="`make pictures` takes those of the documentation")
async def test_pictures_of_the_documentation_are_taken() -> None:
    await taken("slack", {"slack-answer": ANSWER, "slack-board": BOARD}, IMAGES)
    await taken("discord", {"discord-question": QUESTION, "discord-reveal": REVEAL}, IMAGES)


def test_pictures_of_the_documentation_exist_and_are_small() -> None:
    files = [*sorted(IMAGES.glob("discord-*.png")), *sorted(IMAGES.glob("slack-*.png"))]
    names = ["discord-question.png", "discord-reveal.png", "slack-answer.png", "slack-board.png"]
    assert [file.name for file in files] == names
    assert all(file.stat().st_size < 150_000 for file in files)


async def taken(chat: str, shown: Mapping[str, Card | Form], folder: Path) -> None:
    """Renders each as the chat would and takes a screenshot."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    pictures = Pictures(wait_s=60, draw_s=30)
    try:
        async with opened_chromium() as browser:
            page = await browser.new_page(viewport={"width": 620, "height": 900})
            for name, said in shown.items():
                drawn = await pictures.illustrated(said) if isinstance(said, Card) else said
                await page.set_content(page_html(name, [(name, (Scene(name, drawn),))]))
                await page.locator(f".column.{chat}").screenshot(path=folder / f"{name.replace(' ', '-')}.png")
    finally:
        await pictures.close()
