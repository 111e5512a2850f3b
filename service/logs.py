"""Logging: one JSON object per line, from the standard library's loggers and structlog, with secrets redacted.

Redaction hides known secrets, text that looks like one, and members' texts that libraries quote in their errors.
"""

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

from service.tracing import EVENT_FIELD

FILE_BYTES = 5 * 1024 * 1024
"""Size at which the log file is rotated."""
FILES_KEPT = 3
"""Number of rotated log files kept."""
OWN_LOGGERS = ("bot", "dailygrad", "questions", "sandbox", "service")
"""Loggers that the log level applies to. Others log warnings and errors only: at DEBUG they print whole payloads, with
tokens and members' texts."""
CONNECTION_LOGGERS = ("discord", "slack_sdk", "uvicorn.error")
"""Other loggers that log at INFO too, to show when they connect."""
NOISY_LOGGERS = ("apscheduler", "discord.client", "slack_bolt")
"""Loggers that log errors only: their warnings quote requests, are routine, or are about voice, which no bot uses."""

_FIRST_FIELDS = ("timestamp", "level", "logger", "message", EVENT_FIELD)

MASK = "[hidden]"
MIN_SECRET_LENGTH = 4
"""Length of the shortest known secret that is hidden, characters: hiding shorter ones would garble every line."""
MAX_TEXT_LENGTH = 20_000
"""Longest text in a log line, characters."""
_MAX_DEPTH = 6
"""Depth to which nested values are logged as JSON; deeper ones are logged as text."""

# Everything a pattern matches is masked, except its groups. None backtracks over more than a word or a line.
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        # The password in a URL; in PostgreSQL's it may contain characters that should have been quoted.
        r"(\bpostgres(?:ql)?(?:\+\w+)?://[^\s:/@]*:)\S+(@)",
        r"(\w://[^\s:/@\"']*:)[^\s/@\"']+(@)",
        r"(\bpassword=)(?:'(?:[^'\\]|\\.)*'|[^\s&\"']+)",
        # Slack: bot, user, app and refresh tokens, and response URLs.
        r"\bx(?:ox[a-z](?:\.xox[a-z])?|app)-[\w.-]{4,}",
        r"(\bhttps?://hooks\.slack(?:-gov)?\.com/)[^\s\"'<>]+",
        # Discord: bot tokens and interaction tokens, alone and in a URL.
        r"(?<![\w.-])[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",
        r"\baW50ZXJhY3Rpb246[\w+/=-]{20,}",
        r"(/(?:webhooks|interactions)/\w+/)[^\s/?\"']+",
        # Headers, and secrets in query strings.
        r"((?i:\bBearer)\s+)[\w.~+/=-]{8,}",
        r"((?i:\b(?:Basic|Bot))\s+)[\w.~+/=-]{20,}",
        r"((?i:[?&](?:code|state|ticket|token|sig|signature|secret|password|client_secret|refresh_token)=))[^\s&\"'<>#]+",
        # Links to the editor, which let their holder answer for the member, and links that sign in as one.
        r"(/(?:e|sign-in)/)[\w.~=-]{16,}",
        # Tokens of an OpenID provider.
        r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*",
        # Members' texts that libraries quote: rows in PostgreSQL's errors, input in pydantic's and FastAPI's.
        r"(?m)(\b(?:DETAIL|CONTEXT):  ?)\S.*(?:\n(?!\[SQL: |The above exception |During handling ).*)*",
        r"(\binput_value=).*(, input_type=)",
        r"(['\"]input['\"]: ).*",
        r"(?m)(\[parameters: ).*(\])$",
    )
)
_NAMED = re.compile(r"token|secret|password|authorization|cookie", re.IGNORECASE)
"""Fields whose name says that they hold a secret."""


class Redaction:
    """Hides the secrets that a process knows, and text that looks like one, in texts and values."""

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, *secrets: str) -> None:
        """Hides these secrets from now on, in URLs and quoted text too."""
        fresh = {
            form
            for secret in secrets
            for form in _spellings(secret.strip())
            if len(secret.strip()) >= MIN_SECRET_LENGTH
        }
        if fresh <= self._known:
            return
        self._known |= fresh
        # Longest first: one may be the start of another.
        self._pattern = re.compile("|".join(map(re.escape, sorted(self._known, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """Returns the text without secrets, and safe to encode as UTF-8."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        for shape in _SHAPES:
            text = shape.sub(_masked, text)
        text = text.encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= MAX_TEXT_LENGTH else f"{text[:MAX_TEXT_LENGTH]}… ({len(text)} characters)"

    def value(self, value: object, name: str = "", depth: int = 0) -> object:
        """Returns a value that JSON can hold, without secrets. `name` is the name of its field."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if _NAMED.search(name):
            return MASK
        if isinstance(value, str):
            return self.text(value)
        if depth < _MAX_DEPTH and isinstance(value, Mapping):
            return {self.text(str(key)): self.value(held, str(key), depth + 1) for key, held in value.items()}
        if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
            return [self.value(one, "", depth + 1) for one in value]
        return self.text(str(value) if isinstance(value, date | Path | BaseException) else repr(value))


_redaction = Redaction()


def secrets_of(settings: BaseModel) -> Iterator[str]:
    """Returns every secret in the settings: secret fields, files named by `_file` fields, and passwords in URLs.

    Skips files that cannot be read.
    """
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield from _split(value.get_secret_value())
        elif isinstance(value, Path) and name.endswith("_file"):
            yield from _split(_read(value))
        elif isinstance(value, str) and "://" in value:
            yield from _url_passwords(value)


def _spellings(secret: str) -> set[str]:
    """Returns the ways to write a secret: plain, in a URL, in JSON and in Python."""
    plain = repr(secret)[1:-1]
    return {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1], plain}


def _masked(found: re.Match[str]) -> str:
    first, *rest = (group or "" for group in found.groups()) if found.groups() else ("",)
    return f"{first}{MASK}{''.join(rest)}"


def _split(text: str) -> Iterator[str]:
    """Yields a secret, each part of it that commas or whitespace separate, and what follows `NAME=` in a part."""
    yield text
    for part in re.split(r"[\s,]+", text):
        yield part
        yield part.partition("=")[2]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _url_passwords(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return
    yield password
    yield unquote(password)


def hide(*secrets: str) -> None:
    """Hides these secrets in every log line of this process."""
    _redaction.add(*secrets)


def hide_settings(*settings: BaseModel) -> None:
    """Hides every secret of these settings in every log line of this process."""
    hide(*(secret for each in settings for secret in secrets_of(each)))


def log_to(path: Path | None, level: str = "info", *, plain: bool = False) -> None:
    """Logs to a file, rotated at 5 MiB, or to standard error. Replaces what an earlier call set.

    `plain` writes lines for people at a terminal instead of JSON.
    """
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if path is not None:
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", errors="backslashreplace"
        )
    handler.setFormatter(make_formatter(plain=plain))
    _set_levels(getattr(logging, level.upper()), handler)
    # Otherwise a handler that cannot write a record prints it, with its arguments.
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    _log_uncaught(path)
    structlog.configure(
        processors=[*_common_processors(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def make_formatter(redaction: Redaction = _redaction, *, plain: bool = False) -> logging.Formatter:
    """Returns a formatter that writes one redacted line per record."""

    def redact(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        redacted = {str(key): redaction.value(value, str(key)) for key, value in event.items()}
        redacted["message"] = redacted.pop("event", "")
        return {name: redacted.pop(name) for name in _FIRST_FIELDS if name in redacted} | redacted

    last: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(_format_traceback),
        redact,
        _plain_line if plain else structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
    return _Formatter(foreign_pre_chain=[*_common_processors(), _merge_fields], processors=last)


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Formats every record: if that fails, logs only its source position, because the record was not redacted."""

    def format(self, record: logging.LogRecord) -> str:
        try:
            return super().format(record)
        except Exception as error:  # logging would otherwise print the record with its arguments
            place = f"{record.pathname}:{record.lineno}"
            fields = {"message": "a log record could not be formatted", "place": place, "error": type(error).__name__}
            return json.dumps({**fields, "level": record.levelname.lower(), "logger": record.name})


def _common_processors() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _merge_fields(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Adds the fields of `tracing.log_event` to the event."""
    return {**event, **getattr(event["_record"], "fields", {})}


def _plain_line(logger: WrappedLogger, name: str, event: EventDict) -> str:
    """Returns a line for people, followed by the traceback."""
    trace = event.pop("exception", None)
    head = f"{event.pop('level')}: {event.pop('message')} ({event.pop('logger')})"
    rest = [f"{field}={value}" for field, value in event.items() if field != "timestamp"]
    return "\n".join((" ".join((head, *rest)), *([str(trace)] if trace else ())))


def _format_traceback(exc_info: Any) -> str:
    """Returns a traceback without variables, and without the source line of a syntax error."""
    trace = traceback.TracebackException(*exc_info, capture_locals=False, compact=True)
    left = [trace]
    while left:
        one = left.pop()
        if getattr(one, "text", None) is not None:
            one.text = None  # type: ignore[assignment]  # like an error without one
        left += [each for each in (one.__cause__, one.__context__, *(one.exceptions or ())) if each is not None]
    return "".join(trace.format()).rstrip()


def _set_levels(level: int, handler: logging.Handler) -> None:
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    for names, floor in (
        (OWN_LOGGERS, logging.DEBUG),
        (CONNECTION_LOGGERS, logging.INFO),
        (NOISY_LOGGERS, logging.ERROR),
    ):
        for name in names:
            logging.getLogger(name).setLevel(max(level, floor))


def _log_uncaught(path: Path | None) -> None:
    """Logs uncaught exceptions instead of printing them."""
    log = logging.getLogger("dailygrad")

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("the process failed", exc_info=(kind, error, trace))
        if path is not None:
            sys.stderr.write(f"dailygrad: failed with {kind.__name__}; see {path}\n")

    def thread_failed(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log.error("a thread failed", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def ignored(args: Any) -> None:
        log.error("an exception could not be raised", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    sys.excepthook, threading.excepthook, sys.unraisablehook = failed, thread_failed, ignored
