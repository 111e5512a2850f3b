"""The picture of a trace: spans are bars under those they belong to, and the committed one shows a whole answer."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.docs.pages import ROOT
from tests.docs.trace_picture import COLORS, WIDTH, draw_trace

MS = 1_000_000
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = ROOT / "docs" / "images" / "trace.svg"


def span(name: str, number: bytes, parent: bytes, start: int, end: int, **told: str) -> Span:
    values = [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in told.items()]
    return Span(
        name=name,
        span_id=number,
        parent_span_id=parent,
        attributes=values,
        start_time_unix_nano=start * MS,
        end_time_unix_nano=end * MS,
    )


def test_each_span_is_a_bar_of_its_length_under_the_one_it_belongs_to() -> None:
    event = ("dailygrad-bot", span("event", b"1", b"elsewhere", 100, 200, kind="<press>"))
    call = ("dailygrad-service", span("call", b"2", b"1", 125, 175))
    drawn = ElementTree.fromstring(draw_trace([call, event]))
    names = [(text.text, text.get("x")) for text in drawn.iter(f"{SVG}text") if text.text in ("event", "call")]
    assert names == [("event", "16"), ("call", "32")]
    assert [each.text for each in drawn.iter(f"{SVG}tspan")] == ["<press>", None]
    whole, part = [bar for bar in drawn.iter(f"{SVG}rect") if bar.get("height") == "14"]
    assert whole.get("fill") == COLORS["bot"] and part.get("fill") == COLORS["service"]
    assert abs(float(part.get("width", 0)) - float(whole.get("width", 0)) / 2) < 0.2
    assert float(whole.get("x", 0)) + float(whole.get("width", 0)) <= WIDTH


def test_the_picture_shows_an_answer_from_the_press_to_the_delivered_verdict() -> None:
    text = PICTURE.read_text()
    for name in ("event", "call", "judge", "run", "sandbox queue", "sandbox run", "deliver"):
        assert re.search(rf">{name}<", text), name
    assert "images/trace.svg" in (ROOT / "docs" / "operating.md").read_text()
