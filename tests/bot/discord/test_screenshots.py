"""Every card as Discord shows it, for people to look at: made only where $DAILYGRAD_SCREENSHOTS names a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserType

from bot.core.cards import Card
from bot.core.platform import Target
from bot.pictures import Pictures
from tests.bot.discord.simulated import Simulated
from tests.bot.samples import GALLERY
from tests.bot.web.chromium import ARGUMENTS, CHROMIUM, needs_chromium

FOLDER = os.environ.get("DAILYGRAD_SCREENSHOTS", "")
SHOWN = [name for name, said in GALLERY.items() if isinstance(said, Card) and not name.endswith("drawn")]

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not FOLDER, reason="set DAILYGRAD_SCREENSHOTS to a folder to have pictures made there"),
    pytest.mark.timeout(1200),
]


@pytest.fixture
def debians_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser simcord starts is the one that is there."""
    launch = BrowserType.launch

    async def launched(self: BrowserType, **options: Any) -> Browser:
        return await launch(self, executable_path=CHROMIUM, args=list(ARGUMENTS), **options)

    monkeypatch.setattr(BrowserType, "launch", launched)


@pytest.mark.usefixtures("debians_chromium")
async def test_every_card_has_its_picture_taken(sim: Simulated) -> None:
    folder = Path(FOLDER) / "discord"
    folder.mkdir(parents=True, exist_ok=True)
    pictures = Pictures(wait_s=60, draw_s=30)
    names = [name for name in os.environ.get("DAILYGRAD_SCREENSHOTS_OF", "").split(",") if name] or SHOWN
    try:
        async with sim.env.preview(sim.channel, viewers=[sim.ada], width=760, height=2600) as preview:
            for name in names:
                said = GALLERY[name]
                assert isinstance(said, Card)
                card = await pictures.illustrated(said)
                before = {one.id for one in sim.channel.history()}
                with sim.env.time_context():
                    await sim.connected.platform.post(Target(sim.workspace, str(sim.channel.id)), card, name)
                new = [one for one in sim.channel.history() if one.id not in before]
                for place, message in enumerate(new):
                    await preview.show(message)
                    await preview.screenshot(folder / f"{name.replace(' ', '-')}-{place + 1}.png")
    finally:
        await pictures.close()
