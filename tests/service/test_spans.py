"""Traces: a code answer, from the press to the verdict, is one trace at an OTLP collector, without members' words."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sandbox.client import SandboxClient
from service import spans
from service.app import build
from service.config import Settings
from service.process import CommandFailed
from service.tracing import correlate
from service.wire import AnswerInput
from tests.conftest import Clock
from tests.service.daily_channel import daily_channel_of, post_code_question

EVENT = "web:press-1"
SECRET = "canary_in_the_code"


class Collector:
    """An OTLP collector that keeps the spans it gets over HTTP."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.flush: Callable[[], bool] = bool
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                """Prints nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @property
    def spans(self) -> list[Any]:
        return [
            one for request in self.requests for resource in request.resource_spans for scope in resource.scope_spans
            for one in scope.spans
        ]  # fmt: skip


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    provider = spans.use("test", OTLPSpanExporter(endpoint=f"{found.url}/v1/traces"))
    try:
        found.flush = provider.force_flush
        yield found
    finally:
        spans.stop()
        provider.shutdown()
        found.server.shutdown()
        found.server.server_close()
        thread.join()


def attributes(one: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in one.attributes}


@pytest.mark.sandbox
async def test_a_code_answer_is_one_trace_from_the_press_to_the_verdict(
    settings: Settings, clock: Clock, sandbox: SandboxClient, collector: Collector
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        given = AnswerInput(code=f"def double(x):\n    {SECRET} = 2 * x\n    return {SECRET}\n")
        # As a bot does: what comes later, in other processes, knows the event's id only.
        with correlate(EVENT), spans.span("event", first=True, kind="Submit"):
            assert (await daily.answer(ref, given, "Ada", event=EVENT)).status == "judging"
        await service.jobs.run_pending()
    collector.flush()
    trace_id, first_id = spans.trace_ids(EVENT)
    found = [one for one in collector.spans if int.from_bytes(one.trace_id) == trace_id]
    by_id = {one.span_id: one for one in found}
    above = {one.name: by_id[one.parent_span_id].name for one in found if one.parent_span_id}
    assert above == {"call": "event", "judge": "event", "run": "judge", "sandbox queue": "run", "sandbox run": "run"}
    (event,) = [one for one in found if not one.parent_span_id]
    assert int.from_bytes(event.span_id) == first_id
    roles = {attributes(one)["role"] for one in found if one.name == "run"}
    assert roles == {"cases", "reference", "answer"}
    (call,) = [one for one in found if one.name == "call"]
    assert attributes(call)["status"] == 200
    assert attributes(call)["route"] == "/answer"
    for one in found:
        assert one.start_time_unix_nano <= one.end_time_unix_nano
    everything = b"".join(request.SerializeToString() for request in collector.requests)
    assert SECRET.encode() not in everything
    assert b"Ada" not in everything


async def test_calls_without_an_event_make_no_spans(settings: Settings, clock: Clock, collector: Collector) -> None:
    async with build(settings, clock).running() as service:
        daily = daily_channel_of(service)
        await daily.claim()
    with spans.span("nothing"):
        pass
    collector.flush()
    assert [one.name for one in collector.spans if one.name == "nothing"] == []


async def test_an_error_is_named_by_its_type_alone(collector: Collector) -> None:
    with correlate(EVENT), pytest.raises(ValueError, match="secret"), spans.span("fails"):
        raise ValueError("a secret word")
    collector.flush()
    (one,) = collector.spans
    assert attributes(one)["error.type"] == "ValueError"
    assert b"secret" not in one.SerializeToString()


def test_it_is_off_by_default() -> None:
    spans.configure("bot", "")
    with correlate(EVENT), spans.span("event", first=True) as noted:
        noted["outcome"] = "answered"
    assert spans._tracer is None


def test_ids_are_the_same_in_every_process_and_valid() -> None:
    assert spans.trace_ids("a") == spans.trace_ids("a") != spans.trace_ids("b")
    for event_id in map(str, range(100)):
        trace_id, span_id = spans.trace_ids(event_id)
        assert 0 < trace_id < 1 << 128
        assert 0 < span_id < 1 << 64


def test_without_the_packages_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(CommandFailed, match=r"pip install 'dailygrad\[trace\]'"):
        spans.configure("bot", "http://collector:4318")
