"""Where log lines go: one JSON object a line, without secrets, from the standard library's loggers and structlog."""

from __future__ import annotations

import json
import logging
import logging.handlers
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

import structlog
from pydantic import BaseModel, SecretStr
from structlog.typing import EventDict, WrappedLogger

from service.tracing import KEY

# Keeps out of a log what must not stand there: known secrets, what looks like one, and what others quote of members'
# texts. Pure but for what it was told; where lines go is `logs`' business.


MASK = "[hidden]"
SHORTEST = 4
"""Characters of a known secret: to hide one that is shorter would spoil every line, and it protects nothing."""
LONGEST = 20_000
"""Characters of one text in a log line."""
_DEEPEST = 6

# Each takes the place of all that it matches but its groups. None backtracks over more than a word or a line.
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        # The password in an address; in PostgreSQL's it may hold what should have been quoted.
        r"(\bpostgres(?:ql)?(?:\+\w+)?://[^\s:/@]*:)\S+(@)",
        r"(\w://[^\s:/@\"']*:)[^\s/@\"']+(@)",
        r"(\bpassword=)(?:'(?:[^'\\]|\\.)*'|[^\s&\"']+)",
        # Slack: tokens of bots, users, apps and their refreshing, and addresses to answer at.
        r"\bx(?:ox[a-z](?:\.xox[a-z])?|app)-[\w.-]{4,}",
        r"(\bhttps?://hooks\.slack(?:-gov)?\.com/)[^\s\"'<>]+",
        # Discord: a bot's token, and an interaction's, alone and in an address.
        r"(?<![\w.-])[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",
        r"\baW50ZXJhY3Rpb246[\w+/=-]{20,}",
        r"(/(?:webhooks|interactions)/\w+/)[^\s/?\"']+",
        # Headers, and what browsers and chats bring back in an address.
        r"((?i:\bBearer)\s+)[\w.~+/=-]{8,}",
        r"((?i:\b(?:Basic|Bot))\s+)[\w.~+/=-]{20,}",
        r"((?i:[?&](?:code|state|ticket|token|sig|signature|secret|password|client_secret|refresh_token)=))[^\s&\"'<>#]+",
        # Links to the editor: whoever has one answers for its member.
        r"(/e/)[\w.~=-]{16,}",
        # What libraries quote of what people wrote: PostgreSQL of rows, pydantic and FastAPI of input.
        r"(?m)(\b(?:DETAIL|CONTEXT):  ?)\S.*(?:\n(?!\[SQL: |The above exception |During handling ).*)*",
        r"(\binput_value=).*(, input_type=)",
        r"(['\"]input['\"]: ).*",
        r"(?m)(\[parameters: ).*(\])$",
    )
)
# Fields that hold a secret by their very name.
_NAMED = re.compile(r"token|secret|password|authorization|cookie", re.IGNORECASE)


class Redaction:
    """The secrets one process knows, and how texts and values look without any."""

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, *secrets: str) -> None:
        """Hide these from now on, also as they stand in addresses and in quoted text."""
        fresh = {form for secret in secrets for form in _forms(secret.strip()) if len(secret.strip()) >= SHORTEST}
        if fresh <= self._known:
            return
        self._known |= fresh
        # The longest first: one may be the beginning of another.
        self._pattern = re.compile("|".join(map(re.escape, sorted(self._known, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """The text without secrets, such that it can be written in UTF-8."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        for shape in _SHAPES:
            text = shape.sub(_masked, text)
        text = text.encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"

    def value(self, value: object, name: str = "", depth: int = 0) -> object:
        """A value as JSON can hold it, without secrets. `name` is its field's."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if _NAMED.search(name):
            return MASK
        if isinstance(value, str):
            return self.text(value)
        if depth < _DEEPEST and isinstance(value, Mapping):
            return {self.text(str(key)): self.value(held, str(key), depth + 1) for key, held in value.items()}
        if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
            return [self.value(one, "", depth + 1) for one in value]
        return self.text(str(value) if isinstance(value, date | Path | BaseException) else repr(value))


def secrets_of(settings: BaseModel) -> Iterator[str]:
    """Every secret that settings hold: secret fields, the files that fields ending in `_file` name, and passwords in
    addresses. A file that cannot be read holds none."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield from _parts(value.get_secret_value())
        elif isinstance(value, Path) and name.endswith("_file"):
            yield from _parts(_read(value))
        elif isinstance(value, str) and "://" in value:
            yield from _passwords(value)


def _forms(secret: str) -> set[str]:
    """How a secret is written: as it is, in an address, in JSON and in Python."""
    plain = repr(secret)[1:-1]
    return {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1], plain}


def _masked(found: re.Match[str]) -> str:
    first, *rest = (group or "" for group in found.groups()) if found.groups() else ("",)
    return f"{first}{MASK}{''.join(rest)}"


def _parts(text: str) -> Iterator[str]:
    """A secret, and each of those that stand in it apart by commas or lines."""
    yield text
    yield from re.split(r"[\s,]+", text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _passwords(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return
    yield password
    yield unquote(password)


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
_hiding = Redaction()


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


def make_formatter(hiding: Redaction = _hiding, *, plain: bool = False) -> logging.Formatter:
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
