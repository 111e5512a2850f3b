"""Where log lines go: one JSON object a line, without secrets, from the standard library's loggers and structlog."""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog
from pydantic import BaseModel
from structlog.typing import EventDict, WrappedLogger

from service.hiding import Hiding, secrets_of
from service.tracing import KEY

FILE_BYTES = 5 * 1024 * 1024
FILES_KEPT = 3
OURS = ("bot", "dailygrad", "questions", "sandbox", "service")
"""Whose lines the level decides about. Others' never go below a warning: at DEBUG they print whole payloads, with
tokens and with what people wrote."""
TELLING = ("discord", "slack_sdk", "uvicorn.error")
"""Of others, these may say at INFO when they connect."""
CHATTY = ("apscheduler", "slack_bolt")
"""And these quote requests in their warnings, or warn of what is usual."""

_HEAD = ("timestamp", "level", "logger", "message", KEY)
_hiding = Hiding()


def hide(*secrets: str) -> None:
    """Let these never stand in a log line of this process."""
    _hiding.add(*secrets)


def hide_settings(*settings: BaseModel) -> None:
    """Let no secret of these settings stand in a log line of this process."""
    hide(*(secret for each in settings for secret in secrets_of(each)))


def log_to(path: Path | None, level: str = "info", *, plain: bool = False) -> None:
    """Send the process's log to a file that is turned over at 5 MiB, or to standard error; a later call takes the
    place of an earlier one. `plain` lines are for whoever sits before a terminal."""
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if path is not None:
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", errors="backslashreplace"
        )
    handler.setFormatter(make_formatter(plain=plain))
    _set_levels(getattr(logging, level.upper()), handler)
    # What a handler cannot write it would print, arguments and all.
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    _catch(path)
    structlog.configure(
        processors=[*_first(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def make_formatter(hiding: Hiding = _hiding, *, plain: bool = False) -> logging.Formatter:
    """Makes records into lines that hold none of what is hidden."""

    def hidden(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        told = {str(key): hiding.value(value, str(key)) for key, value in event.items()}
        told["message"] = told.pop("event", "")
        return {name: told.pop(name) for name in _HEAD if name in told} | told

    last: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(_told),
        hidden,
        _in_words if plain else structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
    return _Formatter(foreign_pre_chain=[*_first(), _fields], processors=last)


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Never fails: what cannot be told is named by its place, for it was not looked through."""

    def format(self, record: logging.LogRecord) -> str:
        try:
            return super().format(record)
        except Exception as error:  # a line that cannot be made must not become a trace of its arguments
            place = f"{record.pathname}:{record.lineno}"
            said = {"message": "a log line could not be made", "place": place, "error": type(error).__name__}
            return json.dumps({**said, "level": record.levelname.lower(), "logger": record.name})


def _first() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _fields(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """The fields that `tracing.mark` gave a record of the standard library."""
    return {**event, **getattr(event["_record"], "fields", {})}


def _in_words(logger: WrappedLogger, name: str, event: EventDict) -> str:
    """A line to be read by people, and the traceback beneath it."""
    beneath = event.pop("exception", None)
    head = f"{event.pop('level')}: {event.pop('message')} ({event.pop('logger')})"
    rest = [f"{field}={value}" for field, value in event.items() if field != "timestamp"]
    return "\n".join((" ".join((head, *rest)), *([str(beneath)] if beneath else ())))


def _told(exc_info: Any) -> str:
    """A traceback without anybody's variables, and without the line of a program that cannot be parsed."""
    told = traceback.TracebackException(*exc_info, capture_locals=False, compact=True)
    left = [told]
    while left:
        one = left.pop()
        if getattr(one, "text", None) is not None:
            one.text = None  # type: ignore[assignment]  # as of an error that knows none
        left += [each for each in (one.__cause__, one.__context__, *(one.exceptions or ())) if each is not None]
    return "".join(told.format()).rstrip()


def _set_levels(level: int, handler: logging.Handler) -> None:
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    for names, floor in ((OURS, logging.DEBUG), (TELLING, logging.INFO), (CHATTY, logging.ERROR)):
        for name in names:
            logging.getLogger(name).setLevel(max(level, floor))


def _catch(path: Path | None) -> None:
    """Have what nobody caught told in the log, as everything is, and not printed."""
    log = logging.getLogger("dailygrad")

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("the process failed", exc_info=(kind, error, trace))
        if path is not None:
            sys.stderr.write(f"dailygrad: it failed with {kind.__name__}; {path} says why\n")

    def thread_failed(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log.error("a thread failed", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def ignored(args: Any) -> None:
        log.error("a failure could not be raised", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    sys.excepthook, threading.excepthook, sys.unraisablehook = failed, thread_failed, ignored
