"""Messages to the bot: which program is submitted for which question, and the replies to other messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.answers import programs_of
from bot.core.events import Sent
from service.wire import Where, Who
from tests.bot.conftest import Room
from tests.conftest import MakeWho

CODE = "def add_one(x):\n    return x + 1"
PRIVATE = Where(channel="D-ann")


@pytest.fixture
def ann(who: MakeWho) -> Who:
    return who("Ann")


def sent(room: Room, who: Who, text: str, *files: tuple[str, str], where: Where | None = None) -> Sent:
    return Sent(room.event_id(), room.clock(), who, where or room.where, text, files)


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        (f"```python\n{CODE}\n```", (CODE,)),
        (f"here you go:\n```\n{CODE}\n``` ok?", (CODE,)),
        (f"```{CODE}```", (CODE,)),
        (f"```py\n{CODE}\n```", (CODE,)),
        (f"```PYTHON\r\n{CODE}\n```".replace("\r\n", "\n"), (CODE,)),
        (CODE, (CODE,)),
        ("import torch\nx = 1", ("import torch\nx = 1",)),
        ("```a = 1```\n```b = 2```", ("a = 1", "b = 2")),
        ("``````", ()),
        ("When is the next question?", ()),
        ("I would import torch and define a class of my own", ()),
        ("the class is late, from what I hear", ()),
        ("", ()),
    ],
)
def test_the_program_in_a_message(text: str, programs: tuple[str, ...]) -> None:
    assert programs_of(text) == programs


@given(st.lists(st.sampled_from(["`", "```", "\n", "a", " ", "python", "def f():", "x = 1"]), max_size=40).map("".join))
def test_what_is_found_stands_in_the_message(text: str) -> None:
    assert all(program.strip() and program in text for program in programs_of(text))


@given(st.text(st.characters(exclude_characters="`", exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_a_fence_holds_its_program_whole(code: str) -> None:
    assert programs_of(f"```python\n{code}\n```") == (code.rstrip(),)


@pytest.mark.parametrize(
    ("text", "files"), [(f"mine: ```python\n{CODE}\n```", ()), (CODE, ()), ("look at this", (("answer.py", CODE),))]
)
async def test_a_program_answers_the_open_code_question(
    room: Room, ann: Who, text: str, files: tuple[tuple[str, str], ...]
) -> None:
    post = await room.opens("add-one")
    said = await room.does(sent(room, ann, text, *files))
    assert "Your code is being judged…" in said
    assert "Submitted as your answer to: " in said
    assert "question add-one" in said
    room.sees(ann, post)
    assert "return x + 1" in await room.presses(ann, "Answer")


async def test_in_private_the_question_of_the_workspace_is_meant(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    assert "Your code is being judged…" in await room.does(sent(room, ann, CODE, where=PRIVATE))


async def test_the_same_message_twice_is_one_answer(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    event = sent(room, ann, CODE)
    assert await room.does(event) == await room.does(event)
    assert "1 answer" in await room.types(room.boss, "/quiz-admin close-now")


async def test_another_workspace_is_answered_for_itself(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    stranger = replace_workspace(ann)
    said = await room.does(sent(room, stranger, CODE, where=PRIVATE))
    assert "No code question is open here" in said


def replace_workspace(who: Who) -> Who:
    return who.model_copy(update={"workspace": "elsewhere"})


async def test_code_is_not_submitted_for_other_kinds_of_question(room: Room, ann: Who) -> None:
    await room.opens("one-right")
    said = await room.does(sent(room, ann, CODE))
    assert said.startswith("Not submitted")
    assert "1 question open here, and none asks for code." in said
    assert "Today's question" in await room.presses(ann, "Today")


async def test_words_get_the_day_and_without_a_question_the_help(room: Room, ann: Who) -> None:
    assert "/quiz practice   │" in await room.does(sent(room, ann, "hello"))
    await room.opens("one-right")
    assert "Today's question" in await room.does(sent(room, ann, "hello"))
    assert "Today's question" in await room.does(sent(room, ann, "hello", where=PRIVATE))


async def test_which_of_several_is_not_guessed(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    assert "You sent 2 files: a.py, b.py." in await room.does(sent(room, ann, "", ("a.py", CODE), ("b.py", CODE)))
    assert "has 2 blocks of code" in await room.does(sent(room, ann, f"```a = 1```\n```{CODE}```"))
    assert "0 answers" in await room.types(room.boss, "/quiz-admin close-now")


async def test_an_oversized_program_is_rejected(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    said = await room.does(sent(room, ann, "", ("long.py", "x = 1\n" * 20_000)))
    assert said.startswith("Not accepted")
    assert "too long" in said


async def test_a_message_is_answered_for_its_own_instant(room: Room, ann: Who) -> None:
    await room.opens("add-one")
    event = replace(sent(room, ann, CODE), at=datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC))
    assert "You can change it until 17:00 (Europe/Berlin)." in await room.does(event)
