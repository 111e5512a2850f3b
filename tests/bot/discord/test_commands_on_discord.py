"""Every slash command and every kind of button once on Discord, with an optional transcript."""

from __future__ import annotations

from os import environ
from pathlib import Path
from typing import Any

import pytest

from bot.core.command_spec import COMMANDS, Spec
from tests.bot.discord.simulated import Simulated, alone, labels, said

# Where an argument must be given, and where one makes the answer worth reading.
GIVEN: dict[str, dict[str, Any]] = {
    "quiz board": {"period": "week", "all": True},
    "quiz explain": {"id": "one-right"},
    "quiz report": {"id": "one-right", "text": "Is `(2, 3)` not right as well?"},
    "quiz run": {"code": "print(1 + 1)"},
    "quiz notify": {"what": "results", "switch": True},
    "quiz help": {"command": "board"},
    "quiz-admin schedule add": {
        "at": "09:00",
        "days": "mon-fri",
        "zone": "Europe/Berlin",
        "speed": False,
        "open": "8h",
    },
    "quiz-admin schedule edit": {"schedule": "1", "at": "10:00", "zone": "Europe/Berlin"},
    "quiz-admin schedule skip": {"schedule": "1", "date": "2026-03-04"},
    "quiz-admin schedule remove": {"schedule": "2"},
    "quiz-admin schedule pause": {"schedule": "2"},
    "quiz-admin schedule resume": {"schedule": "2"},
    "quiz-admin schedule preview": {"schedule": "1", "date": "friday"},
    "quiz-admin schedule post-now": {"schedule": "1"},
    "quiz-admin ask": {"level": "mid", "closes-in": "1h"},
    "quiz-admin sprint start": {"questions": 2, "seconds": 15, "topic": "tensors"},
    "quiz-admin season start": {"name": "Spring “one”"},
    "quiz-admin bank log": {"name": "room"},
    "quiz-admin bank undo": {"name": "room"},
    "quiz-admin bank retire": {"id": "why-scale"},
    "quiz-admin bank restore": {"id": "why-scale"},
    "quiz-admin bank approve": {"id": "all"},
    "quiz-admin bank stats": {"id": "why-scale"},
    "quiz-admin review show": {"report": 1},
    "quiz-admin review dismiss": {"report": 1, "reason": "It is right: `t` swaps."},
    "quiz-admin review fixed": {"report": 1},
    "quiz-admin review here": {},
    "quiz-admin digest": {"switch": True},
    "quiz-admin review me": {},
    "quiz-admin review credit": {"answer": 1, "percent": 50},
    "quiz-admin member restore": {"name": "Ada", "date": "2026-03-02"},
    "quiz-admin member adjust": {"name": "Ada", "points": -5, "reason": "for the test: “why?”"},
}
NOT_UNDERSTOOD = ("is not one of", "does not fit.", "is missing:", "one word too many", "There is no command")


def written(name: str, given: dict[str, Any]) -> str:
    return " ".join((f"/{name}", *(f"{key}:{value}" for key, value in given.items())))


def given_to(spec: Spec) -> dict[str, Any]:
    given = dict(GIVEN.get(spec.words[1:], {}))
    for argument in spec.arguments:
        if argument.required and argument.name not in given:
            given[argument.name] = "1"
    return given


@pytest.mark.slow
async def test_every_command_is_answered_privately(sim: Simulated) -> None:
    transcript: list[str] = []

    async def note(who: str, did: str, shown: Any) -> None:
        transcript.append(f"{who}> {did}\n{said(shown)}\n")

    post = await sim.opens("one-right")
    transcript.append(f"#daily\n{said(post)}\n")
    asked = await sim.ada.click(post, label="Answer")
    await note("Ada", "[Answer]", asked)
    await note("Ada", "[A]", await sim.ada.click(asked, "A"))
    for spec in COMMANDS:
        who = sim.boss if spec.admin else sim.ada
        given = given_to(spec)
        shown = await who.slash(sim.channel, spec.words[1:], **given)
        await note(who.name, written(spec.words[1:], given), shown)
        assert shown.modal or said(shown), spec.words
        assert shown.modal or alone(shown), spec.words
        assert not any(slip in said(shown) for slip in NOT_UNDERSTOOD), (spec.words, said(shown))
        await sim.carries()
    await sim.closes()
    for thread in sim.threads:
        transcript += [f"#daily, in the thread\n{said(one)}\n" for one in thread.seen() if said(one)]
    keep(transcript)


@pytest.mark.slow
async def test_every_button_of_every_card_works(sim: Simulated) -> None:
    """Clicks every button of each card, each label once."""
    transcript: list[str] = []
    pressed: set[str] = set()
    await sim.opens("one-right")
    commands = ["today", "answer", "practice", "board", "me", "topics", "privacy", "rules", "help", "today"]
    for command in commands:
        reach = 0
        while label := await _fresh_button(sim, command, pressed):
            shown = await sim.ada.slash(sim.channel, f"quiz {command}")
            answer = await sim.ada.click(shown, label)
            pressed.add(label)
            assert answer.modal or (said(answer) and alone(answer)), label
            transcript.append(f"/quiz {command} [{label}]\n{said(answer)}\n")
            reach += 1
            assert reach < 30, "the buttons never end"
    assert {"A", "Change my answer", "Day", "Export everything"} <= pressed, pressed
    keep(transcript)


async def _fresh_button(sim: Simulated, command: str, pressed: set[str]) -> str:
    offered = labels(await sim.ada.slash(sim.channel, f"quiz {command}"))
    return next((label for label in offered if label not in pressed), "")


def keep(transcript: list[str]) -> None:
    """Writes the transcript if one is requested."""
    if folder := environ.get("DAILYGRAD_TRANSCRIPTS"):
        name = environ.get("PYTEST_CURRENT_TEST", "test").partition("::")[2].partition(" ")[0]
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"discord-{name}.txt").write_text("\n".join(transcript), encoding="utf-8")
