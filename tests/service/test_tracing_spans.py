"""Traces: a code answer, from the press to the verdict, is one trace at an OTLP collector, without members' words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from sandbox.client import SandboxClient
from service import tracing
from service.app import build
from service.config import Settings
from service.process import CommandFailed
from service.tracing import correlate
from service.wire import AnswerInput
from tests.collector import Collector, attributes, running_collector
from tests.conftest import Clock
from tests.service.daily_channel import daily_channel_of, post_code_question

EVENT = "web:press-1"
SECRET = "canary_in_the_code"


@dataclass
class Traced:
    """A collector, and this process, which sends to it."""

    collector: Collector
    flush: Callable[[], bool]


@pytest.fixture
def traced() -> Iterator[Traced]:
    with running_collector() as collector:
        provider = tracing.use("test", OTLPSpanExporter(endpoint=f"{collector.url}/v1/traces"))
        try:
            yield Traced(collector, provider.force_flush)
        finally:
            tracing.stop()
            provider.shutdown()


@pytest.mark.sandbox
async def test_a_code_answer_is_one_trace_from_the_press_to_the_verdict(
    settings: Settings, clock: Clock, sandbox: SandboxClient, traced: Traced
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        given = AnswerInput(code=f"def double(x):\n    {SECRET} = 2 * x\n    return {SECRET}\n")
        # As a bot does: what comes later, in other processes, knows the event's id only.
        with correlate(EVENT), tracing.span("event", first=True, kind="Submit"):
            assert (await daily.answer(ref, given, "Ada", event=EVENT)).status == "judging"
        await service.jobs.run_pending()
    traced.flush()
    _, first_id = tracing.trace_ids(EVENT)
    found = [one for _, one in traced.collector.trace_of(EVENT)]
    by_id = {one.span_id: one for one in found}
    above = {one.name: by_id[one.parent_span_id].name for one in found if one.parent_span_id}
    assert above == {"call": "event", "judge": "event", "run": "judge", "sandbox queue": "run", "sandbox run": "run"}
    (event,) = [one for one in found if not one.parent_span_id]
    assert int.from_bytes(event.span_id) == first_id
    roles = {attributes(one)["role"] for one in found if one.name == "run"}
    assert roles == {"cases", "reference", "answer"}
    (call,) = [one for one in found if one.name == "call"]
    assert attributes(call)["status"] == 200
    assert attributes(call)["route"] == "/v1/answer"
    for one in found:
        assert one.start_time_unix_nano <= one.end_time_unix_nano
    assert SECRET.encode() not in traced.collector.received
    assert b"Ada" not in traced.collector.received


async def test_calls_without_an_event_make_no_spans(settings: Settings, clock: Clock, traced: Traced) -> None:
    async with build(settings, clock).running() as service:
        daily = daily_channel_of(service)
        await daily.claim()
    with tracing.span("nothing"):
        pass
    traced.flush()
    assert [one.name for one in traced.collector.spans if one.name == "nothing"] == []


async def test_an_error_is_named_by_its_type_alone(traced: Traced) -> None:
    with correlate(EVENT), pytest.raises(ValueError, match="secret"), tracing.span("fails"):
        raise ValueError("a secret word")
    traced.flush()
    (one,) = traced.collector.spans
    assert attributes(one)["error.type"] == "ValueError"
    assert b"secret" not in one.SerializeToString()


def test_it_is_off_by_default() -> None:
    tracing.configure("bot", "")
    with correlate(EVENT), tracing.span("event", first=True) as noted:
        noted["outcome"] = "answered"
    assert tracing._tracer is None


def test_ids_are_the_same_in_every_process_and_valid() -> None:
    assert tracing.trace_ids("a") == tracing.trace_ids("a") != tracing.trace_ids("b")
    for event_id in map(str, range(100)):
        trace_id, span_id = tracing.trace_ids(event_id)
        assert 0 < trace_id < 1 << 128
        assert 0 < span_id < 1 << 64


def test_without_the_packages_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(CommandFailed, match=r"pip install 'dailygrad\[trace\]'"):
        tracing.configure("bot", "http://collector:4318")
