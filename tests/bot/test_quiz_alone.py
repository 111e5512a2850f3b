"""The quiz when nothing answers: it never raises, and never blames the member."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.actions import Fill, Try, encode
from bot.core.command_spec import specs_of
from bot.core.events import Added, Command, Event, Press, Sent, Submit, Visited
from bot.core.quiz import Quiz
from service.client import ServiceClient
from service.wire import Where, Who
from tests.bot.dialog import Dialog, text_of

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
ANN = Who(platform="console", workspace="home", member="ann", name="Ann", admin=True)
DAILY = Where(channel="daily", name="daily")


@pytest.fixture
async def alone() -> AsyncIterator[Quiz]:
    """A quiz whose service is away: a port nobody listens at."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with ServiceClient.over_http(f"http://127.0.0.1:{unused.getsockname()[1]}", "token") as client:
            yield Quiz(client)


words = st.text(max_size=40)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        lambda name, text: Command("e", NOW, ANN, DAILY, name, text),
        st.sampled_from(["quiz", "quiz-admin"]),
        words | st.sampled_from(["today", "board week", "rules", "schedule list", "run print(1)", "help board"]),
    ),
    st.builds(
        lambda action: Press("e", NOW, ANN, DAILY, action),
        words | st.sampled_from(["a:r1", "n::", "v:see", "t", "h:C1:", "j:0900:C1:"]),
    ),
    st.builds(
        lambda text, files: Sent("e", NOW, ANN, DAILY, text, files),
        words | st.just("```python\nx = 1\n```"),
        st.lists(st.tuples(st.just("a.py"), words), max_size=2).map(tuple),
    ),
    st.sampled_from([Added("e", NOW, ANN, DAILY), Visited("e", NOW, ANN, DAILY)]),
    st.builds(
        lambda action, values: Submit("e", NOW, ANN, DAILY, action, values),
        words | st.sampled_from(["f:r1", "x:r1", "e:", "u", "i:check", "b:0900:C1:"]),
        st.dictionaries(
            st.sampled_from(["text", "code", "options", "name", "days", "zone", "other"]),
            st.tuples(words) | st.just(()),
        ),
    ),
)


@settings(max_examples=60)
@given(event=events)
async def test_every_event_is_answered(alone: Quiz, event: Event) -> None:
    reply = await alone.handle(event)
    assert text_of(reply)
    assert "Something went wrong" not in reply.content.title


async def test_a_service_that_is_away_is_our_fault(alone: Quiz) -> None:
    dialog = Dialog(alone, lambda: NOW, DAILY)
    said = await dialog.types(ANN, "/quiz today")
    assert said == (
        "Please try again\n\nThe quiz is not responding right now. This is our fault, and nothing is lost.\n"
        "Please try again."
    )


async def test_a_command_nobody_defined_is_answered(alone: Quiz) -> None:
    dialog = Dialog(alone, lambda: NOW, DAILY)
    for line in ("/weather", "/weather today"):
        assert "The commands are /quiz and /quiz-admin." in await dialog.types(ANN, line)


@pytest.mark.parametrize("action", ["", "a:x", "o:r1", "zz", "f:r1"])
async def test_a_button_of_an_older_time_says_what_to_do(alone: Quiz, action: str) -> None:
    reply = await alone.handle(Press("e", NOW, ANN, DAILY, action))
    assert "/quiz today" in text_of(reply) or "Please try again" in text_of(reply)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "You chose no option."),
        ({"options": ()}, "You chose no option."),
        ({"text": (" ",)}, "Your answer is empty."),
        ({"code": ("```python\n```",)}, "There is no code."),
        ({"text": ("x" * 4001,)}, "too long"),
    ],
)
async def test_an_empty_answer_is_requested_again(alone: Quiz, values: dict[str, tuple[str, ...]], said: str) -> None:
    assert said in text_of(await alone.handle(Submit("e", NOW, ANN, DAILY, encode(Fill("r1")), values)))


async def test_examples_need_code(alone: Quiz) -> None:
    reply = await alone.handle(Submit("e", NOW, ANN, DAILY, encode(Try("r1")), {"code": ("",)}))
    assert "There is no code." in text_of(reply)


async def test_help_needs_no_service(alone: Quiz) -> None:
    dialog = Dialog(alone, lambda: NOW, DAILY)
    assert "/quiz practice   │" in await dialog.types(ANN, "/quiz")
    assert "/quiz board [PERIOD] [TOPIC] [CONTEST] [all]" in await dialog.types(ANN, "/quiz help board")
    assert "/quiz board [PERIOD]" in await dialog.types(ANN, "/quiz help /quiz board")
    assert "schedule post-now" not in await dialog.types(ANN, "/quiz help")
    assert "Did you mean /quiz board?" in await dialog.types(ANN, "/quiz help borad")
    assert "/quiz-admin schedule …" in await dialog.types(ANN, "/quiz-admin help")
    shown = await dialog.types(ANN, "/quiz-admin help schedule")
    assert all(spec.words in shown for spec in specs_of("quiz-admin") if spec.path[0] == "schedule")
    assert "Stop posting until resumed" in shown


async def test_forms_that_need_nothing_fetched(alone: Quiz) -> None:
    dialog = Dialog(alone, lambda: NOW, DAILY)
    assert "Run a snippet" in await dialog.types(ANN, "/quiz run")
    assert "Import questions" in await dialog.types(ANN, "/quiz-admin bank import")
    assert "This cannot be undone" in await dialog.types(ANN, "/quiz privacy forget")
    assert "What is wrong with it?" in await dialog.types(ANN, "/quiz report stride-view")
