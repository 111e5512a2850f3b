"""Collects the programs of a document with their lines and context."""

from __future__ import annotations

import ast
import builtins
import doctest
import re
import symtable
import textwrap
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from questions.blocks import Block, split_blocks
from questions.model import parse_python
from questions.snippets.statements import Probe, probes_of

if TYPE_CHECKING:
    from questions.model import Question
    from questions.reader import Reading
    from questions.source import Source


# Names a program uses and binds at module level, and well-known imports

IMPORTS = {
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "optim": "import torch.optim as optim",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "dist": "import torch.distributed as dist",
    "mp": "import torch.multiprocessing as mp",
    "DDP": "from torch.nn.parallel import DistributedDataParallel as DDP",
    "FSDP": "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP",
    "torchvision": "import torchvision",
    "Tensor": "from torch import Tensor",
    "Variable": "from torch.autograd import Variable",
    "Parameter": "from torch.nn import Parameter",
    "record_function": "from torch.profiler import record_function",
    "ProfilerActivity": "from torch.profiler import ProfilerActivity",
    "autocast": "from torch.amp import autocast",
    "GradScaler": "from torch.amp import GradScaler",
    **{
        name: f"from torch.utils.data import {name}"
        for name in (
            "DataLoader",
            "Dataset",
            "IterableDataset",
            "TensorDataset",
            "Subset",
            "ConcatDataset",
            "Sampler",
            "RandomSampler",
            "SequentialSampler",
            "WeightedRandomSampler",
            "DistributedSampler",
            "random_split",
        )
    },
    **{
        name: f"from torch.nn.utils.rnn import {name}"
        for name in ("pad_sequence", "pack_padded_sequence", "pad_packed_sequence", "pack_sequence")
    },
    **{name: f"from torch.optim.lr_scheduler import {name}" for name in ("StepLR", "LambdaLR", "CosineAnnealingLR")},
    **{
        name: f"import {name}"
        for name in (
            *("math", "os", "sys", "time", "random", "copy", "json", "re", "io", "gc", "itertools", "functools"),
            *("collections", "contextlib", "inspect", "logging", "warnings", "pickle"),
            *("typing", "tempfile", "timeit"),
        )
    },
    **{name: f"from functools import {name}" for name in ("partial", "lru_cache", "reduce", "wraps")},
    **{
        name: f"from collections import {name}"
        for name in ("defaultdict", "OrderedDict", "Counter", "deque", "namedtuple")
    },
    "dataclass": "from dataclasses import dataclass",
    **{
        name: f"from typing import {name}" for name in ("Any", "Callable", "Optional", "Union", "List", "Dict", "Tuple")
    },
    "Path": "from pathlib import Path",
    "deepcopy": "from copy import deepcopy",
    "contextmanager": "from contextlib import contextmanager",
    "ABC": "from abc import ABC",
}
"""Import statements of well-known names."""

_ALWAYS = frozenset(
    (*dir(builtins), "__name__", "__file__", "__doc__", "__annotations__", "__builtins__", "display", "get_ipython")
)


def bound_names(text: str) -> frozenset[str]:
    """Returns the names a program binds at module level."""
    return _names(text)[0]


def free_names(text: str) -> frozenset[str]:
    """Returns the names a program uses but does not bind at module level."""
    bound, used = _names(text)
    return used - bound - _ALWAYS


def imports_something(tree: ast.Module) -> bool:
    """Returns whether a program has an import, and is therefore meant to be complete."""
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    try:
        top = symtable.symtable(text, "<snippet>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(), frozenset()
    bound: set[str] = set()
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is top or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported() or (table is top and symbol.is_namespace()):
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    used.add(symbol.get_name())
    return frozenset(bound), frozenset(used)


# `>>>` sessions: inputs and answers

_RAISED = re.compile(r"(?:Traceback|(?:[\w.]*\.)?\w+(?:Error|Exception)\b)")
_NO_ANSWER = re.compile(r"\s*(?:#|<BLANKLINE>\s*$)")
_KIND = re.compile(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception))\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt of a session."""

    source: str
    want: str
    line: int
    """Line in the snippet, from 1."""
    fails: bool = False
    """Whether the document shows that it raises."""
    error: str = ""
    """The exception's name, if shown."""

    @property
    def assigns(self) -> bool:
        """Whether it only binds names and therefore has no answer."""
        tree = parse_python(self.source)
        return isinstance(tree, ast.Module) and all(isinstance(node, ast.Assign | ast.AnnAssign) for node in tree.body)


def examples_of(text: str) -> tuple[tuple[Example, ...], SyntaxError | None]:
    """Returns the prompts of a session, or the syntax error."""
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError as problem:
        return (), SyntaxError(str(problem))
    lines = text.split("\n")
    starts = [one.lineno for one in found] + [len(lines)]
    examples: list[Example] = []
    for one, following in zip(found, starts[1:], strict=True):
        first = one.lineno + one.source.rstrip("\n").count("\n") + 1
        want = _want(lines[first:following], one.want)
        example = Example(one.source, want, one.lineno + 1, bool(_RAISED.match(want.lstrip())), _error(want))
        if examples and isinstance(parse_python(examples[-1].source), SyntaxError):
            # A block whose continuation lines begin with `>>>` too.
            last = examples.pop()
            gap = "\n" * (example.line - last.line - last.source.count("\n"))
            example = replace(example, source=last.source + gap + example.source, line=last.line)
        examples.append(example)
    return tuple(examples), None


def _want(rest: Sequence[str], want: str) -> str:
    """Returns the complete answer, even if blank lines interrupt it, as in a tensor of three dimensions."""
    if want.count("(") + want.count("[") > want.count(")") + want.count("]"):
        indent = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
        taken: list[str] = []
        for line in rest:
            taken.append(line[indent:])
            whole = "\n".join(taken)
            if whole.count("(") + whole.count("[") <= whole.count(")") + whole.count("]"):
                break
        want = "\n".join(taken) + "\n"
    return "".join(f"{line}\n" for line in want.splitlines() if not _NO_ANSWER.match(line))


def _error(want: str) -> str:
    names = _KIND.findall(want) if _RAISED.match(want.lstrip()) else []
    return names[-1] if names else ""


# Programs with their context

PYTHON = ("python", "py", "python3", "ipython", "pytorch", "torch")
SESSIONS = ("pycon", "python-repl", "doctest", "py3con", "python-console")
OUTPUTS = ("text", "output", "console", "plaintext", "stdout", "txt", "out", "plain")
SKIP = ("no-run", "norun", "no_run", "skip", "ignore", "noexec")
"""Words after the language of a fence that exclude the program from running."""
NATIVE_SHOWN = ("Program", "Why", "Answer", "Key points")
"""Headings of the native dialect whose programs are only shown; programs under other headings are proved as that
part."""

_OUTPUT_WORD = re.compile(
    r"\W*(?:(?:the|this|its|expected|sample|example|console|program)\s+)*"
    r"(?:outputs?|prints?|printed|results?|gives|produces)\b[\w\s]{0,20}[:：]?\W*$",
    re.IGNORECASE,
)
_OUTPUT_LINE = re.compile(
    r"\W*(?:output|prints|expected output)\W*[:：]\W*\s`?(?P<text>[^`\n]+?)`?\.?\s*$", re.IGNORECASE
)
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """The output that a document shows for a program."""

    text: str
    line: int
    """Its first line in the document."""


@dataclass(frozen=True, slots=True, eq=False)
class Snippet:
    """A program in a document."""

    text: str
    first: int
    """Its first line in the document."""
    labeled: bool
    """Whether the document marks it as Python."""
    tree: ast.Module | SyntaxError
    question: str
    """Id of the question that contains it; empty in study text."""
    section: int
    """Line of the heading above it; 0 without one."""
    around: str
    """The prose directly before and after it."""
    probes: tuple[Probe, ...] = ()
    output: Shown | None = None
    proved: bool = False
    """Whether its question has a proof. It may then be a fragment or fail on purpose."""
    session: tuple[Example, ...] = ()
    """The prompts of a `>>>` session, then also in `text`; otherwise empty."""

    @property
    def program(self) -> str:
        """The program to run, line by line as in the document."""
        if not self.session:
            return self.text
        lines = [""] * len(self.text.split("\n"))
        for one in self.session:
            for at, line in enumerate(one.source.rstrip("\n").split("\n")):
                lines[one.line - 1 + at] = line
        return "\n".join(lines)

    def line_of(self, line: int) -> int:
        """Returns the document line of a program line, from 1."""
        return self.first + line - 1


def snippets_of(reading: Reading) -> list[Snippet]:
    """Returns all programs in a document in order; in the native dialect only those that are not proved otherwise."""
    blocks = split_blocks(reading.source)
    flat = [block for top in blocks for block in top.walk() if block.kind not in ("list", "item", "quote")]
    headings = [block for block in flat if block.kind == "heading"]
    native = "native" in reading.bank.dialects
    found = []
    for at, block in enumerate(flat):
        kind = _kind(block, reading.source)
        above = headings[: bisect_right([heading.first for heading in headings], block.first)]
        asked = _asked(reading.bank.questions, block.first)
        if kind is None or (native and not _only_shown(block, above, asked)):
            continue
        section = above[-1].first if above else 0
        snippet = _snippet(kind, flat, at, asked.id if asked else "", section)
        found.append(replace(snippet, proved=native and asked is not None and bool(asked.proof)))
    return found


def _only_shown(block: Block, above: Sequence[Block], asked: Question | None) -> bool:
    """Returns whether a program of the native dialect is only shown, and not proved as part of its question."""
    if asked is None or (asked.kind == "output" and asked.program == block.text):
        return asked is None
    return above[-1].level < 3 or above[-1].text.strip() in NATIVE_SHOWN


SnippetKind = Literal["python", "session", "guess"]


def _kind(block: Block, source: Source) -> SnippetKind | None:
    if block.kind not in ("fence", "code") or not block.text.strip():
        return None
    words = source.line(block.first).lower().replace("{", " ").replace("}", " ").replace(",", " ").split()
    language = block.info.strip("{}.").split(",")[0]
    if block.kind == "fence" and any(word.strip(".") in SKIP for word in words[1:]):
        return None
    known = language in PYTHON or language in SESSIONS
    if re.search(r"^\s*>>> ", block.text, re.MULTILINE) and (known or not language):
        return "session"
    if known:
        return "python"
    return "guess" if not language and _is_program(block.text) else None


def _is_program(text: str) -> bool:
    """Returns whether a block without a language is certainly Python: it parses and imports something."""
    tree = _parsed(textwrap.dedent(text))
    return isinstance(tree, ast.Module) and any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)
    )


def _snippet(kind: SnippetKind, flat: Sequence[Block], at: int, question: str, section: int) -> Snippet:
    block = flat[at]
    first = block.first + (block.kind == "fence")
    text = textwrap.dedent(block.text)
    around = "\n".join(
        near.text for near in (*flat[max(0, at - 1) : at], *flat[at + 1 : at + 3]) if near.kind != "fence"
    )
    if kind == "session":
        examples, wrong = examples_of(text)
        whole = Snippet(text, first, True, wrong or ast.Module([], []), question, section, around, session=examples)
        return replace(whole, tree=wrong or _parsed(whole.program))
    tree = _parsed(text)
    if isinstance(tree, SyntaxError):
        # Notebook commands are replaced, so that line numbers stay the same.
        plain = _MAGIC.sub(r"\1pass", text)
        tree, text = (parsed, plain) if isinstance(parsed := _parsed(plain), ast.Module) else (tree, text)
    probes = tuple(probes_of(tree, text)) if isinstance(tree, ast.Module) else ()
    output = _output(flat, at)
    return Snippet(text, first, kind == "python", tree, question, section, around, probes, output)


def _parsed(text: str) -> ast.Module | SyntaxError:
    """Returns the program's syntax tree, or the error, including those of the compiler such as `return` outside a
    function."""
    tree = parse_python(text)
    if isinstance(tree, ast.Module):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(tree, "<snippet>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError) as error:
            return error if isinstance(error, SyntaxError) else SyntaxError(str(error))
    return tree


def _asked(questions: Sequence[Question], line: int) -> Question | None:
    return next((q for q in questions if q.place.line <= line <= q.place.end_line), None)


def _output(flat: Sequence[Block], at: int) -> Shown | None:
    """Returns the output block of a program: directly after it, or after a line that announces it."""
    rest = list(_behind(flat, at))
    announced = bool(rest) and rest[0].kind in ("paragraph", "heading") and bool(_OUTPUT_WORD.match(rest[0].text))
    if rest and rest[0].kind == "paragraph" and (found := _OUTPUT_LINE.match(rest[0].text)):
        return Shown(found["text"].strip(), rest[0].first)
    block = rest[1] if announced and len(rest) > 1 else rest[0] if rest else None
    if block is None or block.kind not in ("fence", "code"):
        return None
    if block.kind == "fence" and (block.info in OUTPUTS or (announced and not block.info)):
        return Shown(block.text, block.first + 1)
    return Shown(block.text, block.first) if announced and block.kind == "code" else None


def _behind(flat: Sequence[Block], at: int) -> Iterator[Block]:
    last = flat[at].last
    for block in flat[at + 1 : at + 3]:
        if block.first > last + 3:
            return
        yield block
        last = block.last
