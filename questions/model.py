"""The question model: what every format and dialect is converted to.

Frozen data without parsing or rendering. `as_data` and `from_data` convert questions to and from JSON.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import ConfigDict, TypeAdapter

Kind = Literal["choice", "value", "output", "code", "open"]
Level = Literal["mid", "senior", "principal"]
Device = Literal["cpu", "cuda", "both"]
"""Where an answer has to be right. With `both` it runs on the CPU first, then on a GPU if the sandbox has one."""

KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)
DEVICES: tuple[Device, ...] = get_args(Device)
GENERATED_TAG = "generated"
"""Tag of a question that was generated from a document's prose."""
LONGEST_RECIPE = 2000
"""Maximum length of a recipe, characters."""

_NO_OTHERS = ConfigDict(extra="forbid")
"""Refuses unknown fields."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced code block in the document."""

    __pydantic_config__ = _NO_OTHERS

    text: str
    """The program without the fence and its indentation."""
    language: str = ""
    """First word of the fence's info string, lower case; may be empty."""
    line: int = 0
    """Line of the program's first line in the document, from 1."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a `choice`."""

    __pydantic_config__ = _NO_OTHERS

    id: str
    """Stable within the question. Answers are stored by id, so the order of options does not matter."""
    text: str
    """Markdown."""
    right: bool
    reason: str = ""
    """For a wrong option: the misconception behind it, shown to members who chose it. Markdown."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A plausible wrong solution that the cases of a code task must reject."""

    __pydantic_config__ = _NO_OTHERS

    name: str
    """The mistake, in a few words."""
    code: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Allowed difference between the numbers of an answer and the reference: |a-b| <= atol + rtol*|b|."""

    __pydantic_config__ = _NO_OTHERS

    rtol: float = 1e-5
    atol: float = 1e-7


@dataclass(frozen=True, slots=True)
class CodeTask:
    """The task of a `code` question and how answers are judged."""

    __pydantic_config__ = _NO_OTHERS

    entry: str
    """Name of the function or class the member writes. It is called with each case's arguments, or the driver is."""
    starter: str
    """Initial text of the editor."""
    reference: str
    """A program that defines a correct `entry`."""
    cases: str
    """A program that defines `examples()` and `cases(rng)`. Both return a list of argument tuples: `examples` the
    visible cases, always the same; `cases` the hidden ones, drawn from `rng` (a `random.Random`; torch's generator is
    seeded with the same seed). Arguments may be None, bool, int, float, complex, str, bytes, tuple, list, dict with str
    keys, and torch.Tensor (dense, CPU). It may also define `growing(rng)`: hidden cases of growing size that run last;
    `wall_ms` is then CPU time. The reference has to finish in a fifth of it, and solutions that are too slow should
    need ten times as much. For the proof it also defines `expected()`, the list of the examples' results as the author
    worked them out, and, if any case must raise, `raises(*arguments)`, which returns the exception's name or ""."""
    driver: str = ""
    """A program that defines `drive(answer, *arguments)`, called once per case instead of the entry: for classes,
    gradients, in-place effects or state. It returns a dict, which is compared; it is data, not a verdict. Its `FACTS`
    declares each key (`questions.drivers`). A fact `{"draws": tensor}`, with at least 400 independent draws per row, is
    compared as random numbers."""
    oracle: str = ""
    """A program that judges the reference when the bank is proved; members never meet it. It defines one of: the entry,
    written another way; `oracle(*arguments)`, which returns the expected result; `check(arguments, result)`, which
    returns whether a result is right."""
    wrong: tuple[Wrong, ...] = ()
    tolerance: Tolerance = Tolerance()
    wall_ms: int = 5000
    """Wall time for all cases together, milliseconds."""
    memory_mb: int = 512
    """Memory in addition to torch's own, MiB."""
    device: Device = "cpu"
    """Device of the cases' tensors when the answer is called. With `cuda` the reference runs on the GPU too, and
    answers can only be judged where there is one."""
    gpu_proof: str = ""
    """Fingerprint of this task when a GPU proved it (see `questions.proofs`); empty if none has."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The position of a question in its document."""

    __pydantic_config__ = _NO_OTHERS

    source: str
    """Name of the document."""
    line: int
    """First line, from 1."""
    end_line: int
    """Last line, inclusive."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a bank, in any format."""

    __pydantic_config__ = _NO_OTHERS

    id: str
    """Stable when other parts of the document change: the author's id, or a slug of the prompt."""
    kind: Kind
    prompt: str
    """The question text. Markdown."""
    place: SourceLocation
    answer: str | None = None
    """The answer as Markdown; for `value` a Python literal, for `output` the exact printed text. None if the document
    gives no answer; such a question is never asked."""
    why: str = ""
    """Explanation shown at the reveal. Markdown."""
    hint: str = ""
    """What helps without giving the answer away, shown for points. Markdown."""
    program: str = ""
    """For `output` the program whose output is asked for; otherwise a program shown with the prompt."""
    options: tuple[Option, ...] = ()
    task: CodeTask | None = None
    key_points: tuple[str, ...] = ()
    """For `open`: the points of a complete answer, each a short Markdown sentence."""
    proof: str = ""
    """A program that computes the facts the key is compared with (see `questions.facts`)."""
    unproved: str = ""
    """For `open`: why no program can prove any of its key points."""
    draw: str = ""
    """For a family: the program that defines `draw(rng)`, which generates its questions (see `questions.families`). A
    family itself is never asked."""
    code_blocks: tuple[CodeBlock, ...] = ()
    """All fenced blocks of the question and its answer, in order."""
    level: Level | None = None
    topic: str = ""
    """Path in the topic tree, such as `tensors/memory`."""
    section: tuple[str, ...] = ()
    """Headings above it in the document, outermost first, as plain text."""
    number: str = ""
    """Its number in the document, as written."""
    title: str = ""
    """A short name, if the document has one besides the prompt."""
    links: tuple[str, ...] = ()
    license: str = ""
    tags: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the document has an answer or a `draw` program; other questions are never asked."""
        if self.draw:
            return True
        return self.answer is not None or self.task is not None or any(option.right for option in self.options)

    @property
    def generated(self) -> bool:
        """Whether it was generated from a document's prose, not written by an author."""
        return GENERATED_TAG in self.tags


@dataclass(frozen=True, slots=True)
class Bank:
    """The questions of one document, in document order."""

    name: str
    title: str
    questions: tuple[Question, ...]
    license: str = ""
    dialects: tuple[str, ...] = field(default=())
    """Names of the dialects the document was read as."""
    recipe: str = ""
    """The recipe by which it was read (see `questions.recipes`), or the one that an export carries; empty if none."""


_QUESTION = TypeAdapter(Question)


def as_data(question: Question) -> dict[str, Any]:
    """Returns the question as JSON-ready data; `from_data` is the inverse."""
    data: dict[str, Any] = _QUESTION.dump_python(question)
    return data


def from_data(data: dict[str, Any]) -> Question:
    """Returns the question that `as_data` wrote. Raises ValidationError for unknown fields and wrong values."""
    return _QUESTION.validate_python(data)


def from_json(text: str) -> Question:
    """Like `from_data`, for JSON from outside. Values are not converted: `"yes"` is not true, `"1"` is not a number."""
    return _QUESTION.validate_json(text, strict=True)


# Static checks of Python programs


def parse_python(text: str) -> ast.Module | SyntaxError:
    """Returns the program's syntax tree, or the error. Runs nothing and suppresses warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "the program is nested too deeply")


def defined(tree: ast.Module) -> tuple[str, ...]:
    """Returns the functions and classes a program defines at module level, in order."""
    return tuple(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def names_bound(text: str) -> frozenset[str] | SyntaxError:
    """Returns the names that a program binds at module level (by definition, assignment or import), or the error.

    Runs nothing and suppresses warnings. Takes half the time of a syntax tree, and finds errors that one does not show,
    such as the same argument twice.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symbols = symtable.symtable(text, "<program>", "exec").get_symbols()
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "the program is nested too deeply")
    return frozenset(one.get_name() for one in symbols if one.is_assigned() or one.is_imported())


def is_literal(text: str) -> bool:
    """Returns whether a text is a Python literal: a number, a string, True, None, or containers of these."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True
