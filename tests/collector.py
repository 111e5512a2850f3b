"""A stand-in for an OTLP collector, which keeps the spans that processes send it over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from service import tracing


class Collector:
    """An OTLP collector that keeps the spans it gets over HTTP."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
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
        return [span for _, span in self.by_process()]

    @property
    def received(self) -> bytes:
        """Everything that was sent, for a search for words that must not be in it."""
        return b"".join(request.SerializeToString() for request in list(self.requests))

    def by_process(self) -> list[tuple[str, Any]]:
        """Returns each span with the name of its process, such as `dailygrad-worker`."""
        return [
            (str(attributes(resource.resource)["service.name"]), span)
            for request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def trace_of(self, event_id: str) -> list[tuple[str, Any]]:
        """Returns the spans of an event's trace, with their processes."""
        trace_id, _ = tracing.trace_ids(event_id)
        return [(process, one) for process, one in self.by_process() if int.from_bytes(one.trace_id) == trace_id]


def attributes(one: Any) -> dict[str, Any]:
    """Returns the attributes of a span or a resource."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in one.attributes}


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Runs a collector until the block exits."""
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        collector.server.shutdown()
        collector.server.server_close()
        thread.join()
