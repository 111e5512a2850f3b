"""The log of a process: one JSON object per line, filtered by level, without payloads of libraries."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service import tracing
from service.logs import MASK, Redaction, make_formatter

ROOT = Path(__file__).parent.parent.parent
CANARY = "canary-77ad"

# What a process does that keeps a log at debug, and then fails: each line of it must come out as one JSON object.
PROGRAM = """
import logging, sys, threading, warnings
from pathlib import Path
from service.logs import hide, log_to

path = Path(sys.argv[1]) if sys.argv[1:] else None
log_to(path, "debug")
hide("canary-77ad-known")
for name in ("bot.x", "dailygrad", "service.x", "sandbox.x", "questions.x"):
    logging.getLogger(name).debug("ours of %s", name)
for name in ("discord.gateway", "httpx", "slack_sdk.web", "slack_bolt.App", "sqlalchemy.engine", "asyncio", "other"):
    logging.getLogger(name).debug("payload canary-77ad")
for name in ("httpx", "slack_bolt.App", "other"):
    logging.getLogger(name).info("request canary-77ad")
logging.getLogger("slack_bolt.App").warning("Unhandled request canary-77ad")
logging.getLogger("discord.gateway").info("connected")
logging.getLogger("service.x").info("%d", "canary-77ad")
logging.getLogger("service.x").info("not UTF-8: \\ud800")
warnings.warn("deprecated: canary-77ad-known", UserWarning)

def in_thread():
    mine = "canary-77ad-local"
    raise ValueError("in a thread: canary-77ad-known")

thread = threading.Thread(target=in_thread)
thread.start()
thread.join()

def failing(code):
    mine = "canary-77ad-local"
    try:
        compile(code, "answer", "exec")
    except SyntaxError:
        raise RuntimeError("it failed with canary-77ad-known")

failing("can" "ary_77ad = = 1")  # in two parts: since Python 3.13, tracebacks show the lines of this program
"""


@pytest.fixture
def stream() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger of its own, and what it writes."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    hiding = Redaction()
    hiding.add(CANARY)
    handler.setFormatter(make_formatter(hiding))
    log = logging.getLogger(f"test.{uuid.uuid4()}")
    log.propagate = False
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    yield log, written
    log.removeHandler(handler)


def test_a_station_is_one_line_that_bears_the_id(stream: tuple[logging.Logger, io.StringIO]) -> None:
    log, written = stream
    with tracing.correlate("slack:1.2\n3"):
        tracing.log_event(log, "answer judged", answer=3, status="wrong", ms=1.5, at=None)
    (line,) = written.getvalue().splitlines()
    told = json.loads(line)
    assert told.pop("timestamp").endswith("Z")
    about = {"level": "info", "logger": log.name, "message": "answer judged", "event_id": "slack:1.2\n3"}
    assert told == {**about, "answer": 3, "status": "wrong", "ms": 1.5, "at": None}


@pytest.mark.parametrize("said", ["message", "argument", "field", "error", "cause", "note"])
def test_a_secret_is_hidden_wherever_it_stands(stream: tuple[logging.Logger, io.StringIO], said: str) -> None:
    log, written = stream
    try:
        try:
            raise KeyError(CANARY if said == "cause" else "")
        except KeyError as cause:
            error = ValueError(CANARY if said == "error" else "")
            error.add_note(CANARY if said == "note" else "")
            raise error from cause
    except ValueError:
        message = f"{CANARY} %s" if said == "message" else "%s"
        argument = [CANARY] if said == "argument" else ""
        log.exception(message, argument, extra={"fields": {"held": {"deep": CANARY if said == "field" else ""}}})
    told = json.loads(written.getvalue())
    assert CANARY not in str(told)
    assert str(told).count(MASK) == 1
    assert told["exception"].startswith("Traceback")


def test_a_terminal_log_line_is_readable_and_redacted() -> None:
    hiding = Redaction()
    hiding.add(CANARY)
    record = logging.LogRecord("bot.x", logging.WARNING, "x.py", 1, "not sent: %s", (CANARY,), None)
    record.fields = {"key": "verdict:3"}
    assert make_formatter(hiding, plain=True).format(record) == f"warning: not sent: {MASK} (bot.x) key=verdict:3"
    try:
        raise ValueError(CANARY)
    except ValueError:
        record.exc_info = sys.exc_info()
    first, *beneath = make_formatter(hiding, plain=True).format(record).splitlines()
    assert first == f"warning: not sent: {MASK} (bot.x) key=verdict:3"
    assert (beneath[0], beneath[-1]) == ("Traceback (most recent call last):", f"ValueError: {MASK}")


def test_a_process_writes_nothing_but_lines_without_secrets() -> None:
    ended = run()
    assert (ended.returncode, ended.stdout) == (1, "")
    lines = read(ended.stderr)
    assert "canary" not in ended.stderr
    ours = [line["logger"] for line in lines if line["message"].startswith("ours of")]
    assert ours == ["bot.x", "dailygrad", "service.x", "sandbox.x", "questions.x"]
    told = [line["message"] for line in lines if not line["message"].startswith("ours of")]
    assert told[:3] == ["connected", "a log record could not be formatted", "not UTF-8: \\ud800"]
    assert "UserWarning: deprecated: [hidden]" in told[3]
    assert told[4:] == ["a thread failed", "the process failed"]
    assert "ValueError: in a thread: [hidden]" in lines[-2]["exception"]
    assert "SyntaxError: invalid syntax" in lines[-1]["exception"]
    assert "RuntimeError: it failed with [hidden]" in lines[-1]["exception"]


def test_a_log_in_a_file_is_named_where_the_process_fails(tmp_path: Path) -> None:
    path = tmp_path / "the.log"
    ended = run(str(path))
    assert ended.stderr == f"dailygrad: failed with RuntimeError; see {path}\n"
    assert read(path.read_text(encoding="utf-8"))[-1]["message"] == "the process failed"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the program above as a process."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def read(written: str) -> list[dict[str, Any]]:
    """Parses each line, which must be a JSON object."""
    return [json.loads(line) for line in written.splitlines()]
