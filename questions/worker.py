"""The child process that reads documents: takes one per line as JSON, and limits memory, time and complexity.

`service.banks.documents` starts it. It answers with lines of JSON: first the questions, then the rest of the reading or
the reason for a refusal.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import json
import math
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from pydantic import TypeAdapter

from questions.model import Question
from questions.reader import Reading, read_bank

Excess = Literal["memory", "time", "blocks", "depth"]
"""What a document has too much of, or takes too much of."""

BATCH = 500
"""Questions per line of the answer, so that the process that parses it can do other work in between."""
_NICENESS = 5
"""Niceness: answering members has priority over reading documents."""
ENDED_BY_MEMORY = 12
"""Exit status of the process if it ran out of memory and could not say so: ENOMEM."""
_RESERVE = 16 * 2**20
"""Address space in bytes below the limit that a document must leave free: without any, CPython can hang or abort."""
_MEMORY_CHECK_S = 0.01
"""Seconds between two checks of the memory that is used."""
_OUT_OF_MEMORY = b"refused " + json.dumps({"why": "memory"}).encode() + b"\n"
_MARKS = re.compile(r"[ \t]*(?:>|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))")
"""Matches the mark that opens one quote or list item."""

READING: TypeAdapter[Reading] = TypeAdapter(Reading)
QUESTIONS: TypeAdapter[tuple[Question, ...]] = TypeAdapter(tuple[Question, ...])


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may take."""

    memory: int = 400 * 2**20
    """Address space, bytes: with the service it fits into the container's 512 MiB."""
    cpu_s: int = 30
    """Processor time, seconds."""
    blocks: int = 150_000
    """Most lines with text, list items and quotes."""
    depth: int = 100
    """Most lists and quotes inside one another that one line opens."""


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A document that is not read."""

    why: Excess
    most: int = 0
    """The limit that was exceeded; 0 for memory and time."""


@dataclass(frozen=True, slots=True)
class Request:
    """A document to read."""

    text: str
    name: str
    limits: Limits
    recipe: str = ""
    packed: bool = False
    """Whether the text is base64 of a file that is not text, such as a workbook."""


REQUEST: TypeAdapter[Request] = TypeAdapter(Request)
TOO_MUCH: TypeAdapter[TooMuch] = TypeAdapter(TooMuch)


def check_complexity(text: str, limits: Limits) -> TooMuch | None:
    """Returns what the text has too much of, without parsing it."""
    blocks = 0
    for line in io.StringIO(text, newline=None):
        depth = at = 0
        while depth <= limits.depth and (mark := _MARKS.match(line, at)):
            depth, at = depth + 1, mark.end()
        if depth > limits.depth:
            return TooMuch("depth", limits.depth)
        blocks += depth + (not line.isspace())
        if blocks > limits.blocks:
            return TooMuch("blocks", limits.blocks)
    return None


def answer(request: Request, answers: IO[bytes]) -> None:
    """Reads the document and writes the answer. Raises MemoryError; too much time ends the process."""
    limits = request.limits
    # Packages have limits of their own; those of memory and time hold for all.
    excess = None if request.packed else check_complexity(request.text, limits)
    if excess is None:
        _restrict(limits)
        content = _unpacked(request.text) if request.packed else request.text
        with watch_memory(limits.memory - _RESERVE, answers):
            reading = read_bank(content, name=request.name, recipe=request.recipe)
        questions = reading.bank.questions
        for start in range(0, len(questions), BATCH):
            answers.write(b"questions " + QUESTIONS.dump_json(questions[start : start + BATCH]) + b"\n")
        rest = dataclasses.replace(reading, bank=dataclasses.replace(reading.bank, questions=()))
        answers.write(b"reading " + READING.dump_json(rest) + b"\n")
    else:
        answers.write(b"refused " + TOO_MUCH.dump_json(excess) + b"\n")
    answers.flush()


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""


def _restrict(limits: Limits) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    seconds = math.ceil(time.process_time()) + limits.cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _address_space() -> int:
    """Returns the bytes of address space in use; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_bytes().split()[0]) * resource.getpagesize() if statm.exists() else 0


@contextlib.contextmanager
def watch_memory(most: int, answers: IO[bytes]) -> Iterator[None]:
    """Refuses the document and ends the process as soon as it uses more than `most` bytes of address space.

    Many small objects fill the address space to the last byte. CPython then has no memory for the MemoryError itself:
    it repeats the attempt until the processor time is used up, or ends with a traceback.
    """

    # What documents before this one have left is used again: only growth counts.
    most = max(most, _address_space())

    def check(*_: object) -> None:
        if _address_space() > most:
            os.write(answers.fileno(), _OUT_OF_MEMORY)
            os._exit(0)

    before = signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, _MEMORY_CHECK_S, _MEMORY_CHECK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Serves requests until the input ends, or until one takes too much memory."""
    for line in requests:
        try:
            answer(REQUEST.validate_json(line), answers)
        except MemoryError:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            answers.write(_OUT_OF_MEMORY)
            answers.flush()
            return


if __name__ == "__main__":
    os.nice(_NICENESS)
    with contextlib.suppress(OSError):
        # If the machine runs out of memory, it ends this process and not the service.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    # Keep library output out of the protocol.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, output)
    except BrokenPipeError:  # the parent was killed
        pass
    except MemoryError:
        os._exit(ENDED_BY_MEMORY)
    os._exit(0)
