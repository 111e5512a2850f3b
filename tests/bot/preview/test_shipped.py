"""Questions of the shipped bank, as each chat would be sent them: one message each, within every limit, whole."""

from __future__ import annotations

import pytest

from bot.core.cards import Form
from bot.discord import fits_modal
from bot.preview.scenes import Scene, make_scenes, scene_data
from bot.slack import fits_view
from service.rounds.views import preview_question
from tests.bot.discord import limits as discord_limits
from tests.bot.slack import limits as slack_limits
from tests.questions.shipped import read_shipped_bank

BANK = read_shipped_bank()
# All take half a minute; an eighth of them has every kind and the longest in it.
ASKED = [question for question in BANK.questions if not question.draw]
LONGEST = sorted(ASKED, key=lambda question: len(question.proof) + len(question.why) + len(question.program))[-5:]
SOME = {question.id: question for question in [*ASKED[::8], *LONGEST]}


def wrong_in(scene: Scene, platform: str) -> list[str]:
    form = isinstance(scene.content, Form)
    found: list[str] = []
    for body in scene_data(scene, platform):
        if platform == "discord":
            found += discord_limits.wrong_in_modal(body) if form else discord_limits.wrong_in_message(body)
        else:
            found += slack_limits.wrong_in_view(body) if form else slack_limits.wrong_in_message(body)
    return found


@pytest.mark.parametrize("id", SOME)
def test_a_shipped_question_fits_every_chat(id: str) -> None:
    for scene in make_scenes(*preview_question(SOME[id], BANK)):
        for platform in ("discord", "slack"):
            assert wrong_in(scene, platform) == []
            assert len(scene_data(scene, platform)) == 1
        if isinstance(scene.content, Form):
            assert fits_modal(scene.content) and fits_view(scene.content)
