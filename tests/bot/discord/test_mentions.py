"""Cards mention the bot's commands, once their ids are known, so that a press on one fills it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core import command_spec
from bot.core.cards import Card, Code, Small, Table, Text
from bot.core.dispatcher import Target
from bot.core.markup.discord import ROOM
from bot.core.markup.runs import units
from bot.core.text.members import help_card
from bot.core.text.questions import hint_card, question_blocks
from bot.core.text.results import answer_blocks, own_answer_blocks
from bot.discord.mentions import CommandMentions
from bot.discord.render import bodies
from service.wire import AnswerInput, AskForm, HintView
from tests.bot.discord.simulated import Simulated, said
from tests.bot.discord.test_start import started
from tests.bot.samples import CHOICE, CHOICE_KEY, NOW, OPEN

REGISTERED = [
    {"type": 1, "name": "quiz", "id": "11"},
    {"type": 1, "name": "quiz-admin", "id": "22"},
    {"type": 3, "name": "quiz", "id": "33"},
]


def known() -> CommandMentions:
    mentions = CommandMentions()
    mentions.learn(REGISTERED)
    return mentions


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Type `/quiz practice`.", "Type </quiz practice:11>."),
        ("`/quiz-admin bank stats` lists them.", "</quiz-admin bank stats:22> lists them."),
        ("`/quiz-admin bank stats ID` needs a word.", "`/quiz-admin bank stats ID` needs a word."),
        ("`/quiz` and `/quiz-admin bank` are no commands.", "`/quiz` and `/quiz-admin bank` are no commands."),
        ("`/quiz nothing` neither, nor `/other today`.", "`/quiz nothing` neither, nor `/other today`."),
        ("```\n`/quiz today`\n```", "```\n`/quiz today`\n```"),
        ("**/quiz today** shows it.", "</quiz today:11> shows it."),
        ("***/quiz today***", "***/quiz today***"),
        (r"\`/quiz today`", r"\`/quiz today`"),
        ("``/quiz today``", "``/quiz today``"),
    ],
)
def test_a_command_without_further_words_becomes_a_mention(text: str, shown: str) -> None:
    assert known().apply(text) == shown
    assert CommandMentions().apply(text) == text, "without ids nothing changes"


def test_a_text_that_would_become_too_long_keeps_the_names() -> None:
    text = "`/quiz today` " * (ROOM // 14)
    assert units(text) <= ROOM and known().apply(text) == text


def test_prose_mentions_commands_and_code_does_not() -> None:
    card = Card("Commands", "In short.", (Text("Type `/quiz me`."), Small("Or `/quiz today`."), Code("`/quiz me`", "")))
    (body,) = bodies(card, rewrite=known().apply)
    text = "\n".join(part["content"] for part in body["components"][0]["components"])
    assert "Type </quiz me:11>." in text and "-# Or </quiz today:11>." in text
    assert "`/quiz me`" in text.partition("```")[2]


def test_what_a_question_or_a_name_says_is_no_link() -> None:
    command, text = "**/quiz today** and `/quiz today`", "`/quiz today`"
    asked = CHOICE_KEY.model_copy(
        update={
            "question": CHOICE.model_copy(update={"prompt": command}),
            "options": tuple(one.model_copy(update={"text": command, "reason": text}) for one in CHOICE_KEY.options),
            "why": text,
            "key_points": (text, "**/quiz me**"),
        }
    )
    given = AnswerInput(options=(asked.options[0].id,))
    hint = HintView(ref="r1", text=text, cost=1, taken=True, kind="value")
    ask = AskForm(ref="r1", question=asked.question, zone="UTC")
    people = Table(("Name", "Note"), (("/quiz today", "`/quiz me`"),))
    blocks = (
        *question_blocks(asked.question),
        *answer_blocks(asked),
        *answer_blocks(asked.model_copy(update={"options": (), "answer": text, "question": OPEN})),
        *own_answer_blocks(asked, given, None),
        *hint_card(hint, ask, NOW).blocks,
        people,
    )
    for body in bodies(Card("Title", "Summary.", blocks), rewrite=known().apply):
        for part in body["components"][0]["components"]:
            assert "</quiz" not in part.get("content", ""), part["content"]
    (listed,) = bodies(help_card(command_spec.specs_of("quiz")), rewrite=known().apply)
    assert "</quiz practice:11>" in str(listed)


async def test_posts_and_replies_mention_commands(sim: Simulated) -> None:
    (quiz,) = [one for one in sim.double.world.commands[0] if one["name"] == "quiz"]
    sim.app.mentions.learn(sim.double.world.commands[0])
    target = Target(sim.workspace, str(sim.channel.id))
    ref = await sim.app.platform.post(target, Card("Hello", "Hi.", (Text("Type `/quiz practice`."),)), "k")
    assert f"Type </quiz practice:{quiz['id']}>." in said([*sim.channel.messages.values()][-1])
    await sim.app.platform.edit(target, Card("Hello", "Hi.", (Text("Type `/quiz me`."),)), ref, "k")
    assert f"Type </quiz me:{quiz['id']}>." in said([*sim.channel.messages.values()][-1])
    assert f"</quiz practice:{quiz['id']}>" in said(await sim.ada.slash(sim.channel, "quiz help"))


async def test_the_bot_learns_the_ids_when_it_starts(sim: Simulated, tmp_path: Path) -> None:
    (admin,) = [one for one in sim.double.world.commands[0] if one["name"] == "quiz-admin"]
    async with started(sim, tmp_path):
        shown = await sim.double.slash(sim.ada.member, sim.channel, "quiz", "today")
        await sim.double.until(lambda: "schedule" in said(shown), "a reply")
        assert f"</quiz-admin setup:{admin['id']}>" in said(shown)
