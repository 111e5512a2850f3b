"""Our own dialect: `# topic`, `## id · kind · level`, the prompt, options, and parts under `###` headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from questions.blocks import Block, plain
from questions.diagnostics import Finding
from questions.dialects import native_parts as parts
from questions.dialects.native_parts import Part
from questions.document import Document, Draft, Section, scalar
from questions.model import KINDS, LEVELS, CodeBlock, CodeTask, Kind, Level, Option, Question, Wrong
from questions.programs import defined, parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.diagnostics import Severity

NAME = "native"

_HEADER = re.compile(rf"\S+[ ]+·[ ]+(?:{'|'.join(KINDS)})\b.*")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOPIC = re.compile(r"[a-z0-9]+(?:[-/][a-z0-9]+)*")
_WRONG = "Wrong:"
_EVERY = frozenset(KINDS)
_PARTS: dict[str, frozenset[str]] = {
    "Why": _EVERY,
    "Proof": _EVERY,
    "Links": _EVERY,
    "Tags": _EVERY,
    "Answer": frozenset({"value", "open"}),
    "Program": frozenset({"output", "value", "choice", "open"}),
    "Output": frozenset({"output"}),
    "Key points": frozenset({"open"}),
    "Starter": frozenset({"code"}),
    "Reference": frozenset({"code"}),
    "Cases": frozenset({"code"}),
    "Driver": frozenset({"code"}),
    "Limits": frozenset({"code"}),
    "Draw": frozenset({"choice", "value"}),
    _WRONG: frozenset({"code"}),
}
_HIDDEN = ("Proof", "Starter", "Reference", "Cases", "Driver", "Draw", _WRONG)
"""Parts whose programs are never shown as a part of question or answer."""


@dataclass(frozen=True, slots=True)
class _Header:
    id: str
    kind: Kind
    level: Level | None


@dataclass(slots=True)
class _Body:
    """What stands under a `##` heading, sorted."""

    prompt: tuple[int, int]
    options: tuple[Option, ...]
    named: dict[str, Part]
    wrong: list[Part]


def sniff(document: Document) -> bool:
    """Whether the front matter names a bank, or a heading reads `id · kind · level`."""
    return bool(scalar(document.front, "bank")) or any(
        section.heading.level == 2 and _HEADER.fullmatch(plain(section.heading.text)) for section in document.sections
    )


def read(document: Document) -> Draft:
    """All questions of the document. The dialect is the whole document's: nothing is left to others."""
    draft = Draft()
    for section in document.sections:
        heading = section.heading
        if heading.level == 1:
            if not _TOPIC.fullmatch(plain(heading.text)):
                _complain(document, draft, heading, "Q114", "this is no topic", _TOPIC_HELP, "warning")
        elif heading.level == 2:
            _read_question(document, draft, section)
        elif not section.above or section.above[-1].level < 2:
            _complain(document, draft, heading, "Q113", "this heading stands outside a question", _OUTSIDE_HELP)
    return draft


_TOPIC_HELP = "write a path of lower-case words, such as `# tensors/memory`"
_OUTSIDE_HELP = "begin a question with `## id · kind · level` first"


def _read_question(document: Document, draft: Draft, section: Section) -> None:
    header = _header(document, draft, section)
    if header is None:
        return
    body = _body(document, draft, section, header.kind)
    draft.questions.append(_build(document, draft, section, header, body))


def _header(document: Document, draft: Draft, section: Section) -> _Header | None:
    """What the `##` heading says; None, with a finding over all its lines, where it cannot be read."""
    words = [word.strip() for word in plain(section.heading.text).split("·")]
    problem = _header_problem(words)
    if problem:
        code, message, cure = problem
        finding = Finding(
            code,
            "error",
            message,
            document.source.span(section.heading.first, section.last),
            note="the question was left out",
            help=cure,
            skipped=True,
        )
        draft.findings.append(finding)
        return None
    level = cast("Level", words[2]) if len(words) == 3 else None
    return _Header(words[0], cast("Kind", words[1]), level)


def _header_problem(words: list[str]) -> tuple[str, str, str] | None:
    if len(words) not in (2, 3):
        return "Q110", "this heading does not read `id · kind · level`", "write `## transpose-strides · choice · mid`"
    if not _SLUG.fullmatch(words[0]):
        return "Q110", f"`{words[0]}` cannot be an id", "use lower-case words and numbers joined by hyphens"
    if words[1] not in KINDS:
        return "Q111", f"`{words[1]}` is no kind of question", f"the kinds are {', '.join(KINDS)}"
    if len(words) == 3 and words[2] not in LEVELS:
        return "Q112", f"`{words[2]}` is no level", f"the levels are {', '.join(LEVELS)}"
    return None


def _body(document: Document, draft: Draft, section: Section, kind: Kind) -> _Body:
    cut = next((i for i, block in enumerate(section.body) if _is_part(block)), len(section.body))
    options: tuple[Option, ...] = ()
    end = section.heading.last
    for block in section.body[:cut]:
        if parts.is_options(block) and not options:
            options = parts.options(document, block)
        elif options:
            _complain(document, draft, block, "Q118", "this text stands behind the options", _BEHIND_HELP)
        else:
            end = block.last
    if options and kind != "choice":
        _complain(document, draft, section.heading, "Q119", f"{_a(kind)} question has no options", _KIND_HELP)
    named, wrong = _sorted_parts(document, draft, section, kind)
    return _Body((section.heading.last + 1, end), options, named, wrong)


_BEHIND_HELP = "put it before the first option, or under `### Why`"
_KIND_HELP = "make it a `choice`, or write the list without boxes"


def _is_part(block: Block) -> bool:
    return block.kind == "heading" and block.level == 3


def _a(kind: str) -> str:
    return f"an `{kind}`" if kind[0] in "aeiou" else f"a `{kind}`"


def _sorted_parts(document: Document, draft: Draft, section: Section, kind: Kind) -> tuple[dict[str, Part], list[Part]]:
    named: dict[str, Part] = {}
    wrong: list[Part] = []
    for part in _split(section.body):
        name = _WRONG if part.name.startswith(_WRONG) else part.name
        problem = _part_problem(name, kind, named)
        if problem:
            _complain_of_part(document, draft, part, *problem)
        elif name == _WRONG:
            wrong.append(part)
        else:
            named[name] = part
    return named, wrong


def _split(body: tuple[Block, ...]) -> Iterator[Part]:
    starts = [index for index, block in enumerate(body) if _is_part(block)]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=False):
        yield Part(plain(body[start].text), body[start], body[start + 1 : end])


def _part_problem(name: str, kind: Kind, named: dict[str, Part]) -> tuple[str, str] | None:
    if name not in _PARTS:
        return f"`{name}` is no part of a question", f"the parts are {', '.join(_PARTS)} name"
    if kind not in _PARTS[name]:
        fitting = ", ".join(sorted(_PARTS[name]))
        return f"{_a(kind)} question has no `{name}`", f"`{name}` belongs to questions of the kind {fitting}"
    if name in named:
        return f"`{name}` stands here a second time", "join the two, or remove one"
    return None


def _complain_of_part(document: Document, draft: Draft, part: Part, message: str, cure: str) -> None:
    span = document.source.span(part.heading.first, part.last)
    draft.findings.append(Finding("Q113", "error", message, span, help=cure))


def _complain(
    document: Document,
    draft: Draft,
    block: Block,
    code: str,
    message: str,
    cure: str,
    severity: Severity = "error",
) -> None:
    span = document.source.span(block.first, block.last)
    draft.findings.append(Finding(code, severity, message, span, help=cure))


def _build(document: Document, draft: Draft, section: Section, header: _Header, body: _Body) -> Question:
    first, last = section.heading.first, section.last
    named = body.named
    topic = plain(section.above[0].text) if section.above else ""
    return Question(
        id=header.id,
        kind=header.kind,
        prompt=document.source.text(*body.prompt),
        place=document.place(first, last),
        answer=_answer(document, draft, header.kind, named),
        why=parts.prose(document, named.get("Why")),
        program=parts.program(document, draft, named.get("Program")),
        options=body.options,
        task=_task(document, draft, body) if header.kind == "code" else None,
        key_points=tuple(text for text, _ in parts.bullets(document, draft, named.get("Key points"))),
        proof=parts.program(document, draft, named.get("Proof")),
        draw=parts.program(document, draft, named.get("Draw")),
        code_blocks=_shown_code(document, first, last, body),
        level=header.level,
        topic=topic,
        section=section.path,
        links=parts.links(document, draft, named.get("Links")),
        tags=parts.tags(document, named.get("Tags")),
    )


def _answer(document: Document, draft: Draft, kind: Kind, named: dict[str, Part]) -> str | None:
    if kind == "value":
        return parts.literal(document, draft, named.get("Answer"))
    if kind == "output" and "Output" in named:
        return parts.program(document, draft, named["Output"])
    return parts.prose(document, named.get("Answer")) or None


def _task(document: Document, draft: Draft, body: _Body) -> CodeTask:
    starter, reference, cases, driver = (
        parts.program(document, draft, body.named.get(name)) for name in ("Starter", "Reference", "Cases", "Driver")
    )
    wrong = tuple(
        Wrong(part.name.removeprefix(_WRONG).strip(), parts.program(document, draft, part)) for part in body.wrong
    )
    entry = _entry(document, draft, body.named.get("Starter"), starter)
    task = CodeTask(entry, starter, reference, cases, driver, wrong)
    return parts.with_limits(document, draft, body.named.get("Limits"), task)


def _entry(document: Document, draft: Draft, part: Part | None, starter: str) -> str:
    tree = parse_python(starter)
    names = () if isinstance(tree, SyntaxError) else defined(tree)
    if len(names) == 1:
        return names[0]
    if part is not None and not isinstance(tree, SyntaxError):
        message = f"the starter defines {len(names)} functions or classes at its top, it must define one"
        _complain(document, draft, part.heading, "Q121", message, "leave only the one the member is to write")
    return ""


def _shown_code(document: Document, first: int, last: int, body: _Body) -> tuple[CodeBlock, ...]:
    hidden = [body.named[name] for name in _HIDDEN if name in body.named] + body.wrong
    lines = {line for part in hidden for line in range(part.heading.first, part.last + 1)}
    return tuple(block for block in document.code_between(first, last) if block.line - 1 not in lines)
