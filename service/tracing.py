"""Traces: carries an event's id from a chat to the sandbox, in calls and logs, and sends spans by OpenTelemetry.

Without an address to send them to, spans cost nothing and OpenTelemetry is not imported. A trace's id and its first
span's id are derived from the correlation id, which every process knows already. So nothing else is passed on, and a
job that runs hours later belongs to the trace of the press that caused it. Spans carry kinds, counts and states, never
a name or what people wrote.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import structlog

from service.process import CommandFailed

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

EVENT_HEADER = "X-Dailygrad-Event"
EVENT_FIELD = "event_id"
"""Name of the log field with the id."""
MAX_EVENT_ID_LENGTH = 200
"""Longest id, characters; the same as in `wire.EventId`."""

_fields: ContextVar[dict[str, object] | None] = ContextVar("fields", default=None)


@contextmanager
def correlate(event_id: str) -> Iterator[None]:
    """Adds the id to every log line and call until the block exits. An empty id changes nothing."""
    if not event_id:
        yield
        return
    with structlog.contextvars.bound_contextvars(**{EVENT_FIELD: event_id[:MAX_EVENT_ID_LENGTH]}):
        yield


def current_event_id() -> str:
    """Returns the current correlation id; empty if there is none."""
    return str(structlog.contextvars.get_contextvars().get(EVENT_FIELD, ""))


def event_header() -> dict[str, str]:
    """Returns the current id as an HTTP header. Ids are untrusted text, so all but plain characters are quoted."""
    event_id = current_event_id()
    return {EVENT_HEADER: quote(event_id, safe=":/", errors="replace")} if event_id else {}


def parse_event_header(value: str) -> str:
    """Returns the id in a header's value. Any value gives an id that is safe to log."""
    return unquote(value)[:MAX_EVENT_ID_LENGTH]


@contextmanager
def collect_fields() -> Iterator[dict[str, object]]:
    """Collects the fields that code in the block adds, for the log line at its end."""
    fields: dict[str, object] = {}
    token = _fields.set(fields)
    try:
        yield fields
    finally:
        _fields.reset(token)


def add_fields(**fields: object) -> None:
    """Adds fields to the log line of the current call: ids, counts and states, never what people wrote."""
    collected = _fields.get()
    if collected is not None:
        collected.update(fields)


def log_event(log: logging.Logger, what: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Logs one step of an event. Uses the standard library, so that a command without a log prints nothing."""
    log.log(level, what, extra={"fields": fields})


def pseudonym(*parts: str) -> str:
    """Returns a stable pseudonym for a member in a log: neither a name nor the platform's id."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


Value = str | int | float | bool

_tracer: Tracer | None = None
_first_span: ContextVar[int | None] = ContextVar("first_span", default=None)


def configure(process: str, url: str) -> None:
    """Sends this process's spans to the OTLP collector at `url`, over HTTP; does nothing if it is empty.

    Raises CommandFailed if the packages for it are not installed.
    """
    if not url:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as missing:
        raise CommandFailed(
            f"DAILYGRAD_TRACES_URL needs {missing.name}, which is not installed: pip install 'dailygrad[trace]'"
        ) from None
    use(process, OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces"))


def use(process: str, exporter: SpanExporter) -> TracerProvider:
    """Sends this process's spans to that exporter in batches, also at its end."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Ids(IdGenerator):
        """Random ids, but for the first span of a trace."""

        def generate_span_id(self) -> int:
            return _first_span.get() or random.getrandbits(64) or 1

        def generate_trace_id(self) -> int:
            return trace_ids(current_event_id())[0]

    global _tracer
    resource = Resource.create({"service.name": f"dailygrad-{process}", "service.namespace": "dailygrad"})
    provider = TracerProvider(resource=resource, id_generator=Ids())
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracer = provider.get_tracer("dailygrad")
    return provider


def stop() -> None:
    """Makes no more spans."""
    global _tracer
    _tracer = None


def trace_ids(event_id: str) -> tuple[int, int]:
    """Returns the ids of an event's trace and of its first span; neither is 0."""
    digest = hashlib.sha256(event_id.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:16]) | 1, int.from_bytes(digest[16:24]) | 1


@contextmanager
def span(name: str, *, first: bool = False, **attributes: Value) -> Iterator[dict[str, Value]]:
    """Records the block as a span of the current event's trace. Attributes can be added to what it yields.

    `first` is the span of the event itself, under which those of all processes are. Without an event or a collector it
    records nothing.
    """
    added: dict[str, Value] = dict(attributes)
    event_id = current_event_id()
    if _tracer is None or not event_id:
        yield added
        return
    from opentelemetry.trace import StatusCode, use_span

    started = _start(_tracer, name, event_id, first)
    try:
        # An exception's text may contain what a member wrote.
        with use_span(started, end_on_exit=False, record_exception=False, set_status_on_exception=False):
            yield added
    except BaseException as problem:
        added["error.type"] = type(problem).__name__
        started.set_status(StatusCode.ERROR)
        raise
    finally:
        started.set_attributes({EVENT_FIELD: event_id, **added})
        started.end()


def record(name: str, seconds: float, *, ago: float = 0.0, **attributes: Value) -> None:
    """Records a span of `seconds` that ended `ago` seconds before now, such as a part of a run."""
    event_id = current_event_id()
    if _tracer is None or not event_id:
        return
    end = time.time_ns() - int(ago * 1e9)  # the clock of spans, not of the quiz
    started = _start(_tracer, name, event_id, first=False, at=end - int(seconds * 1e9))
    started.set_attributes({EVENT_FIELD: event_id, **attributes})
    started.end(end)


def _start(tracer: Tracer, name: str, event_id: str, first: bool, at: int | None = None) -> Span:
    from opentelemetry import trace
    from opentelemetry.context import Context

    trace_id, first_id = trace_ids(event_id)
    token = _first_span.set(first_id if first else None)
    try:
        if first:
            return tracer.start_span(name, Context(), start_time=at)  # type: ignore[return-value]
        above = trace.get_current_span()
        if above.get_span_context().trace_id != trace_id:
            flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
            above = trace.NonRecordingSpan(trace.SpanContext(trace_id, first_id, is_remote=True, trace_flags=flags))
        return tracer.start_span(name, trace.set_span_in_context(above, Context()), start_time=at)  # type: ignore[return-value]
    finally:
        _first_span.reset(token)
