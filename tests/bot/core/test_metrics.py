"""Metrics of a bot: events by outcome, deliveries by outcome, responses by status."""

from __future__ import annotations

from datetime import UTC, datetime

import aiohttp
import pytest
from aiohttp import web
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.core.dispatcher import DeliveryRefused, Dispatcher
from bot.core.events import Command, Event, Press
from bot.core.metrics import count_responses, event_answered
from bot.core.quiz import Quiz
from service import tracing
from service.client import ServiceClient
from service.wire import Where, Who
from tests.bot.conftest import Room
from tests.bot.core.test_dispatcher import Moody
from tests.service.test_metrics import Counted

ANN = Who(platform="web", workspace="local", member="ann", name="Ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def command(text: str) -> Event:
    return Command("e1", NOON, ANN, Where(channel="daily"), "quiz", text)


async def test_events_are_counted_by_outcome() -> None:
    counted = Counted()
    async with ServiceClient.over_http("http://127.0.0.1:1", "a-token-nobody-wants") as nobody:
        quiz = Quiz(nobody)
        for event in (command("help"), command("dance"), command("today")):
            await quiz.handle(event)
        await quiz.handle(Press("e2", NOON, ANN, Where(channel="daily"), "no action of ours"))
    found = {
        (kind, outcome): counted("chat_events_total", platform="web", kind=kind, outcome=outcome)
        for kind in ("Command", "Press")
        for outcome in ("answered", "refused", "unavailable", "failed")
    }
    assert {each: number for each, number in found.items() if number} == {
        ("Command", "answered"): 1,
        ("Command", "refused"): 1,
        ("Command", "unavailable"): 1,
        ("Press", "refused"): 1,
    }
    assert counted("chat_event_seconds_count", platform="web") == 4


@pytest.mark.parametrize("error", ["RuntimeError", "KeyError"])
def test_what_we_have_no_sentence_for_has_failed(error: str) -> None:
    counted = Counted()
    event_answered("slack", "Submit", error, 2000)
    assert counted("chat_events_total", platform="slack", kind="Submit", outcome="failed") == 1
    assert counted("chat_event_seconds_sum", platform="slack") == pytest.approx(2)


async def test_deliveries_are_counted_by_outcome(room: Room) -> None:
    counted = Counted()
    await room.schedules(room.where)
    chat = Moody(before=[DeliveryRefused("no"), DeliveryRefused("no")], after=[ConnectionResetError("cut off")])
    courier = Dispatcher(room.client, chat)
    while await courier.once():
        pass
    found = [
        sum(counted("chat_posts_total", platform="web", kind=kind, outcome=outcome) for kind in ("question", "notice"))
        for outcome in ("sent", "refused", "uncertain", "later")
    ]
    assert found[1:] == [2, 1, 0]
    assert counted("chat_post_seconds_count", platform="web") == sum(found)


async def test_a_chats_responses_are_counted_by_status() -> None:
    counted = Counted()

    async def full(request: web.Request) -> web.Response:
        return web.Response(status=429)

    app = web.Application()
    app.router.add_get("/", full)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    trace = count_responses(aiohttp.TraceConfig(), "discord")
    async with aiohttp.ClientSession(trace_configs=[trace]) as session:
        for _ in range(2):
            async with session.get(f"http://127.0.0.1:{runner.addresses[0][1]}/"):
                pass
    await runner.cleanup()
    assert counted("chat_responses_total", platform="discord", status="429") == 2


async def test_an_event_is_the_first_span_of_its_trace() -> None:
    exporter = InMemorySpanExporter()
    provider = tracing.use("test", exporter)
    try:
        async with ServiceClient.over_http("http://127.0.0.1:1", "a-token-nobody-wants") as nobody:
            await Quiz(nobody).handle(command("help"))
        provider.force_flush()
    finally:
        tracing.stop()
        provider.shutdown()
    (one,) = exporter.get_finished_spans()
    trace_id, first_id = tracing.trace_ids("e1")
    assert (one.name, one.parent, one.context.trace_id, one.context.span_id) == ("event", None, trace_id, first_id)
    assert one.attributes == {"event_id": "e1", "kind": "Command", "platform": "web", "outcome": "answered"}
