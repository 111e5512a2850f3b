"""The id of a chat event: bound, sent, taken up and noted under, whatever characters it is made of."""

from __future__ import annotations

import asyncio

import httpx
from hypothesis import given
from hypothesis import strategies as st

from service import tracing


@given(st.text(min_size=1, max_size=tracing.LONGEST))
def test_an_id_comes_through_a_header_as_it_is(event_id: str) -> None:
    with tracing.following(event_id):
        headers = tracing.as_header()
    assert headers[tracing.HEADER].isascii() and headers[tracing.HEADER].isprintable()
    sent = httpx.Request("POST", "http://service/v1/answer", headers=headers)
    assert tracing.from_header(sent.headers[tracing.HEADER]) == event_id


@given(st.text())
def test_any_header_gives_an_id_of_bounded_length(value: str) -> None:
    assert len(tracing.from_header(value)) <= tracing.LONGEST


def test_nothing_is_sent_where_nothing_is_followed() -> None:
    assert tracing.followed() == ""
    assert tracing.as_header() == {}


def test_an_id_is_followed_inside_the_block_alone() -> None:
    with tracing.following("one"):
        with tracing.following("two"):
            assert tracing.followed() == "two"
        with tracing.following(""):
            assert tracing.followed() == "one"
    assert tracing.followed() == ""


async def test_tasks_of_two_events_keep_their_ids_apart() -> None:
    both = asyncio.Barrier(2)

    async def answering(event_id: str) -> tuple[str, str]:
        with tracing.following(event_id):
            await both.wait()
            return event_id, await asyncio.create_task(_inner())

    async def _inner() -> str:
        return tracing.followed()

    told = await asyncio.gather(answering("one"), answering("two"))
    assert dict(told) == {"one": "one", "two": "two"}


async def test_what_a_task_notes_stands_with_the_call_it_belongs_to() -> None:
    async def working() -> None:
        tracing.note(answer=3)

    with tracing.noting() as notes:
        await asyncio.create_task(working())
        tracing.note(status="judging")
    assert notes == {"answer": 3, "status": "judging"}
    tracing.note(answer=4)
    assert notes["answer"] == 3


def test_a_member_is_told_by_a_word_that_says_nothing_else() -> None:
    word = tracing.opaque("slack", "T1", "U1")
    assert word == tracing.opaque("slack", "T1", "U1")
    others = {
        tracing.opaque("slack", "T1", "U2"),
        tracing.opaque("slack", "T1U", "1"),
        tracing.opaque("web", "T1", "U1"),
    }
    assert word not in others and len(others) == 3
    assert "U1" not in word
