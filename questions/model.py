"""What every dialect becomes: a Question of one of five kinds, and the Bank that holds them.

Plain frozen data, no reading and no rendering. `as_data` and `from_data` carry a question through JSON.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import ConfigDict, TypeAdapter

Kind = Literal["choice", "value", "output", "code", "open"]
Level = Literal["mid", "senior", "principal"]
Device = Literal["cpu", "cuda", "both"]
"""Where an answer has to be right: `both` asks first on the CPU, and then on a GPU if the sandbox has one."""

KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)
DEVICES: tuple[Device, ...] = get_args(Device)

_NO_OTHERS = ConfigDict(extra="forbid")
"""Data with a field that a class does not have is refused."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block as it stands in the document."""

    __pydantic_config__ = _NO_OTHERS

    text: str
    """The program without its fence and without the fence's indentation."""
    language: str = ""
    """The first word of the fence's info string, lower case; empty where there is none."""
    line: int = 0
    """Line of the first line of the program in the document, from 1."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a `choice`."""

    __pydantic_config__ = _NO_OTHERS

    id: str
    """Stable within the question; answers are kept by it, whatever order a member saw."""
    text: str
    """Markdown."""
    right: bool
    reason: str = ""
    """For a wrong option: the misconception it stands for, said to whoever chose it. Markdown."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A plausible wrong solution that a code task's cases must reject."""

    __pydantic_config__ = _NO_OTHERS

    name: str
    """What is wrong with it, in a few words."""
    code: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an answer's numbers may lie from the reference's: |a-b| <= atol + rtol*|b|."""

    __pydantic_config__ = _NO_OTHERS

    rtol: float = 1e-5
    atol: float = 1e-7


@dataclass(frozen=True, slots=True)
class CodeTask:
    """What a `code` question asks for and how it is judged."""

    __pydantic_config__ = _NO_OTHERS

    entry: str
    """The name of the function or class the member writes; it, or the driver, is called with each case's values."""
    starter: str
    """What the editor shows first."""
    reference: str
    """A program that defines `entry` rightly."""
    cases: str
    """A program that defines `examples()` and `cases(rng)`. Both return a list of argument tuples:
    `examples` the visible ones, always the same; `cases` the hidden ones, drawn from `rng`
    (a `random.Random`; torch's own generator is seeded from the same seed). Arguments are plain:
    None, bool, int, float, complex, str, bytes, tuple, list, dict with str keys, torch.Tensor (dense, CPU).
    It may define `growing(rng)` too: hidden cases of growing size, run last, for whose sake `wall_ms` is CPU time. The
    reference must do with a fifth of it, and what is too slow should need ten times as much."""
    driver: str = ""
    """A program that defines `drive(answer, *arguments)`, called once per case in place of the entry: where the
    answer is a class, or gradients, in-place effects or state count. What it returns is compared: data, no verdict.
    `{"draws": tensor}`, with one of at least 400 independent draws in each row, is compared as random numbers are."""
    wrong: tuple[Wrong, ...] = ()
    tolerance: Tolerance = Tolerance()
    wall_ms: int = 5000
    """Wall time for all cases together."""
    memory_mb: int = 512
    """Memory beyond what torch itself takes."""
    device: Device = "cpu"
    """Where the tensors of the cases lie when the answer is called. With `cuda` alone the reference runs on the GPU
    too, and an answer can only be judged where there is one."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where a question stands."""

    __pydantic_config__ = _NO_OTHERS

    source: str
    """Name of the document, as the reader was given it."""
    line: int
    """First line of the question, from 1."""
    end_line: int
    """Last line of it, inclusive."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a bank, whatever document it came from."""

    __pydantic_config__ = _NO_OTHERS

    id: str
    """Stable when the document is edited around it: the author's own id, or a slug of the prompt."""
    kind: Kind
    prompt: str
    """What is asked. Markdown."""
    place: SourceLocation
    answer: str | None = None
    """The document's answer, Markdown; for `value` a Python literal, for `output` the exact text printed.
    None: the document asks without answering, and the question is never put to anyone."""
    why: str = ""
    """The reason given at the reveal. Markdown."""
    program: str = ""
    """For `output` the program whose output is to be predicted; for others a program shown with the prompt."""
    options: tuple[Option, ...] = ()
    task: CodeTask | None = None
    key_points: tuple[str, ...] = ()
    """For `open`: what a full answer mentions, each a short Markdown sentence."""
    proof: str = ""
    """A program that fails when the key is false."""
    draw: str = ""
    """Of a family: the program that defines `draw(rng)`, from which its questions are drawn (see `questions.families`).
    A family itself is never asked."""
    code_blocks: tuple[CodeBlock, ...] = ()
    """Every fenced block of the question and its answer, in order."""
    level: Level | None = None
    topic: str = ""
    """A path in the topic tree, such as `tensors/memory`."""
    section: tuple[str, ...] = ()
    """The headings above it in the document, outermost first, as plain text."""
    number: str = ""
    """The number the document gives it, as written."""
    title: str = ""
    """A short name, where the document has one apart from the prompt."""
    links: tuple[str, ...] = ()
    licence: str = ""
    tags: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the document says what is right, or how to draw it; only such a question may be asked."""
        if self.draw:
            return True
        return self.answer is not None or self.task is not None or any(option.right for option in self.options)


@dataclass(frozen=True, slots=True)
class Bank:
    """The questions of one document, in its order."""

    name: str
    title: str
    questions: tuple[Question, ...]
    licence: str = ""
    dialects: tuple[str, ...] = field(default=())
    """Names of the dialects the document was read in."""


_QUESTION = TypeAdapter(Question)


def as_data(question: Question) -> dict[str, Any]:
    """Returns the question as JSON-ready data; `from_data` is the inverse."""
    data: dict[str, Any] = _QUESTION.dump_python(question)
    return data


def from_data(data: dict[str, Any]) -> Question:
    """Returns the question that `as_data` wrote. Raises ValidationError for unknown fields and wrong values."""
    return _QUESTION.validate_python(data)


def from_json(text: str) -> Question:
    """Like `from_data`, for JSON from outside: converts no value, so `"yes"` is not true and `"1"` is not a number."""
    return _QUESTION.validate_json(text, strict=True)


# What can be said of a Python text without running it.


def parse_python(text: str) -> ast.Module | SyntaxError:
    """The program's tree, or why there is none. Nothing is run and nothing is warned about."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "the program is nested too deeply")


def defined(tree: ast.Module) -> tuple[str, ...]:
    """The functions and classes a program defines at its top, in order."""
    return tuple(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def is_literal(text: str) -> bool:
    """Whether a text is a Python literal: a number, a string, True, None, or containers of such."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True
