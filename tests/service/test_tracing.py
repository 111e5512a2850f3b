"""The correlation id of a chat event: bound, sent, received and logged, with any characters."""

from __future__ import annotations

import asyncio

import httpx
from hypothesis import given
from hypothesis import strategies as st

from service import tracing


@given(st.text(min_size=1, max_size=tracing.MAX_EVENT_ID_LENGTH))
def test_a_header_carries_the_id_unchanged(event_id: str) -> None:
    with tracing.correlate(event_id):
        headers = tracing.event_header()
    assert headers[tracing.EVENT_HEADER].isascii() and headers[tracing.EVENT_HEADER].isprintable()
    sent = httpx.Request("POST", "http://service/v1/answer", headers=headers)
    assert tracing.parse_event_header(sent.headers[tracing.EVENT_HEADER]) == event_id


@given(st.text())
def test_any_header_gives_an_id_of_bounded_length(value: str) -> None:
    assert len(tracing.parse_event_header(value)) <= tracing.MAX_EVENT_ID_LENGTH


def test_nothing_is_sent_where_nothing_is_followed() -> None:
    assert tracing.current_event_id() == ""
    assert tracing.event_header() == {}


def test_an_id_is_followed_inside_the_block_alone() -> None:
    with tracing.correlate("one"):
        with tracing.correlate("two"):
            assert tracing.current_event_id() == "two"
        with tracing.correlate(""):
            assert tracing.current_event_id() == "one"
    assert tracing.current_event_id() == ""


async def test_tasks_of_two_events_keep_their_ids_apart() -> None:
    both = asyncio.Barrier(2)

    async def answering(event_id: str) -> tuple[str, str]:
        with tracing.correlate(event_id):
            await both.wait()
            return event_id, await asyncio.create_task(_inner())

    async def _inner() -> str:
        return tracing.current_event_id()

    told = await asyncio.gather(answering("one"), answering("two"))
    assert dict(told) == {"one": "one", "two": "two"}


async def test_what_a_task_notes_stands_with_the_call_it_belongs_to() -> None:
    async def working() -> None:
        tracing.add_fields(answer=3)

    with tracing.collect_fields() as notes:
        await asyncio.create_task(working())
        tracing.add_fields(status="judging")
    assert notes == {"answer": 3, "status": "judging"}
    tracing.add_fields(answer=4)
    assert notes["answer"] == 3


def test_a_members_pseudonym_reveals_nothing() -> None:
    word = tracing.pseudonym("slack", "T1", "U1")
    assert word == tracing.pseudonym("slack", "T1", "U1")
    others = {
        tracing.pseudonym("slack", "T1", "U2"),
        tracing.pseudonym("slack", "T1U", "1"),
        tracing.pseudonym("web", "T1", "U1"),
    }
    assert word not in others and len(others) == 3
    assert "U1" not in word
