"""Reads the native dialect: `# topic`, `## id · kind · level`, prompt, options, and parts under `###` headings."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from questions.blocks import Block, content_column, dedent, plain
from questions.document import Document, Draft, Section, entries, scalar
from questions.ids import VALID_ID, nth_letter
from questions.model import (
    DEVICES,
    KINDS,
    LEVELS,
    CodeBlock,
    CodeTask,
    Device,
    Kind,
    Level,
    Option,
    Question,
    Tolerance,
    Wrong,
    defined,
    parse_python,
)
from questions.source import URL, Finding
from questions.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Severity


# Parts under `###` headings: fences, literals, lists

_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:[ ]+|(?=\n)|$)")
_ID = re.compile(r"\{(?P<id>[A-Za-z0-9][A-Za-z0-9_-]*)\}(?:[ ]+|(?=\n)|$)")
_LITERAL = re.compile(r"(?<!`)(`++)(?P<text>.+?)(?<!`)\1(?!`)", re.DOTALL)
_DEVICE = re.compile(rf"device[ ]*:[ ]*(?P<value>{'|'.join(DEVICES)})")
_GPU_PROOF = re.compile(r"gpu_proof[ ]*:[ ]*(?P<value>none|[0-9a-f]{12})")
_LIMIT = re.compile(r"(?P<name>[a-z_]+)[ ]*:[ ]*(?P<value>[0-9][0-9_.eE+-]*)")
_DASH = re.compile(r"(?<=\s)—(?=\s)")


@dataclass(frozen=True, slots=True)
class Part:
    """A `###` heading with its content."""

    name: str
    heading: Block
    body: tuple[Block, ...]

    @property
    def last(self) -> int:
        """Last line that is not blank."""
        return self.body[-1].last if self.body else self.heading.last


def prose(document: Document, part: Part | None) -> str:
    """Returns the Markdown of a part; empty if there is no such part."""
    return document.source.text(part.heading.last + 1, part.last) if part else ""


def program(document: Document, draft: Draft, part: Part | None) -> str:
    """Returns the text of a part's only fence, with a finding if the part has other content."""
    if part is None:
        return ""
    fences = [block for block in part.body if block.kind == "fence"]
    others = [block for block in part.body if block.kind != "fence"]
    if len(fences) != 1:
        draft.findings.append(
            Finding(
                "Q115",
                "error",
                f"`{part.name}` needs exactly one fenced block, it has {len(fences)}",
                document.source.span(part.heading.first),
                help="put the program in a ```python fence below the heading",
                word=part.name,
                part=part.name,
            )
        )
    if not fences:
        return ""
    draft.findings += [_stray(document, block, f"only a fence is allowed in `{part.name}`") for block in others]
    return fences[0].text


def literal(document: Document, draft: Draft, part: Part | None) -> str | None:
    """Returns the value of an `Answer` part, in backticks or a fence; empty, with a finding, if it is neither."""
    if part is None:
        return None
    if len(part.body) == 1 and part.body[0].kind == "fence":
        return part.body[0].text
    found = _LITERAL.fullmatch(prose(document, part))
    if found:
        return found["text"].strip()
    draft.findings.append(
        Finding(
            "Q116",
            "error",
            "the answer of a `value` question must be a Python literal",
            document.source.span(part.heading.first, part.last),
            help="write it in backticks, such as `(1, 4)`, and the explanation under `### Why`",
        )
    )
    return ""


def bullets(document: Document, draft: Draft, part: Part | None) -> tuple[tuple[str, int], ...]:
    """Returns the items of a part's only list, each with its line."""
    if part is None:
        return ()
    lists = [block for block in part.body if block.kind == "list"]
    others = [block for block in part.body if block.kind != "list"]
    draft.findings += [_stray(document, block, f"only a list is allowed in `{part.name}`") for block in others]
    return tuple((item_text(document, item), item.first) for block in lists for item in block.children)


def links(document: Document, draft: Draft, part: Part | None) -> tuple[str, ...]:
    """Returns the URLs in a list of links."""
    return tuple(_links(document, draft, part))


def _links(document: Document, draft: Draft, part: Part | None) -> Iterator[str]:
    for text, line in bullets(document, draft, part):
        found = URL.search(text)
        if found:
            yield found[0]
        else:
            draft.findings.append(
                Finding(
                    "Q120",
                    "error",
                    "this link has no URL",
                    document.source.span(line),
                    help="write the full URL, starting with https://",
                )
            )


def tags(document: Document, part: Part | None) -> tuple[str, ...]:
    """Returns the words of a comma-separated line."""
    return tuple(word for raw in prose(document, part).split(",") if (word := plain(raw)))


def with_limits(document: Document, draft: Draft, part: Part | None, task: CodeTask) -> CodeTask:
    """Returns the task with the limits from a part."""
    values: dict[str, float] = {
        "rtol": task.tolerance.rtol,
        "atol": task.tolerance.atol,
        "wall_ms": task.wall_ms,
        "memory_mb": task.memory_mb,
    }
    device, gpu_proof = task.device, task.gpu_proof
    for text, line in bullets(document, draft, part):
        if named := _DEVICE.fullmatch(plain(text)):
            device = cast(Device, named["value"])
            continue
        if named := _GPU_PROOF.fullmatch(plain(text)):
            gpu_proof = named["value"].removeprefix("none")
            continue
        found = _LIMIT.fullmatch(plain(text))
        number = _number(found["value"]) if found else None
        if found is None or number is None or found["name"] not in values:
            draft.findings.append(_bad_limit(document, line, tuple(values)))
        else:
            values[found["name"]] = number
    return dataclasses.replace(
        task,
        tolerance=Tolerance(values["rtol"], values["atol"]),
        wall_ms=int(values["wall_ms"]),
        memory_mb=int(values["memory_mb"]),
        device=device,
        gpu_proof=gpu_proof,
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _bad_limit(document: Document, line: int, names: tuple[str, ...]) -> Finding:
    return Finding(
        "Q117",
        "error",
        "this is not a limit",
        document.source.span(line),
        help=f"write a name and a number, such as `rtol: 1e-4`; the names are {', '.join(names)}; "
        f"or `device:` and one of {', '.join(DEVICES)}",
    )


def is_options(block: Block) -> bool:
    """Returns whether a list contains options: each item begins with a check box."""
    return block.kind == "list" and all(
        item.children and _BOX.match(item.children[0].text) is not None for item in block.children
    )


def read_options(document: Document, block: Block) -> tuple[Option, ...]:
    """Returns the options of a check list; options without an id get letters."""
    return tuple(_option(item_text(document, item), index) for index, item in enumerate(block.children))


def _option(text: str, index: int) -> Option:
    box = _BOX.match(text)
    rest = text[box.end() :] if box else text
    named = _ID.match(rest)
    rest = rest[named.end() :] if named else rest
    shown, reason = split_reason(rest)
    return Option(named["id"] if named else nth_letter(index), shown, box is not None and box["mark"] in "xX", reason)


def split_reason(text: str) -> tuple[str, str]:
    """Returns an option's text and its reason, split at the first dash between spaces or line ends outside code."""
    start = 0
    for code in _LITERAL.finditer(text):
        if dash := _DASH.search(text, start, code.start()):
            break
        start = code.end()
    else:
        dash = _DASH.search(text, start)
    return (text[: dash.start()].strip(), text[dash.end() :].strip()) if dash else (text.strip(), "")


def item_text(document: Document, item: Block) -> str:
    """Returns the Markdown of a list item without marker and indentation."""
    line = document.source.line(item.first)
    column = content_column(line)
    below = [dedent(document.source.line(number), column) for number in range(item.first + 1, item.last + 1)]
    return "\n".join((line[column:], *below)).strip()


def _stray(document: Document, block: Block, why: str) -> Finding:
    return Finding(
        "Q118",
        "error",
        "this text does not belong to any part",
        document.source.span(block.first, block.last),
        note=why,
        help="move it under `### Why`, or into the prompt",
    )


# Questions

NAME = "native"

_HEADER = re.compile(rf"\S+[ ]+·[ ]+(?:{'|'.join(KINDS)})\b.*")
_SIGN = r"(?:\s*[-–—•∙⋅*|/,:;]+\s*|\s+)"
_OTHER_SIGN = re.compile(rf"([a-z0-9]+(?:-[a-z0-9]+)*){_SIGN}({'|'.join(KINDS)})(?:{_SIGN}({'|'.join(LEVELS)}))?")
"""Matches a heading whose words are separated by another sign than `·`."""
_DECLARED = re.compile(rf"^##[ ]+{_HEADER.pattern}", re.MULTILINE)
_DECLARED_UTF8 = re.compile(_DECLARED.pattern.encode(), re.MULTILINE)
_TOPIC = re.compile(r"[a-z0-9]+(?:[-/][a-z0-9]+)*")
_WRONG = "Wrong:"
_EVERY = frozenset(KINDS)
_PARTS: dict[str, frozenset[str]] = {
    "Why": _EVERY,
    "Hint": _EVERY,
    "Proof": _EVERY,
    "Links": _EVERY,
    "Tags": _EVERY,
    "Answer": frozenset({"value", "open"}),
    "Program": frozenset({"output", "value", "choice", "open"}),
    "Output": frozenset({"output"}),
    "Key points": frozenset({"open"}),
    "Unproved": frozenset({"open"}),
    "Starter": frozenset({"code"}),
    "Reference": frozenset({"code"}),
    "Cases": frozenset({"code"}),
    "Driver": frozenset({"code"}),
    "Oracle": frozenset({"code"}),
    "Limits": frozenset({"code"}),
    "Draw": frozenset({"choice", "value"}),
    _WRONG: frozenset({"code"}),
}
_HIDDEN = ("Proof", "Starter", "Reference", "Cases", "Driver", "Oracle", "Draw", _WRONG)
"""Parts whose programs are never shown with the question or the answer."""


@dataclass(frozen=True, slots=True)
class _Header:
    id: str
    kind: Kind
    level: Level | None


@dataclass(slots=True)
class _Body:
    """The sorted content of a `##` section."""

    prompt: tuple[int, int]
    options: tuple[Option, ...]
    named: dict[str, Part]
    wrong: list[Part]


def declares_question(text: str | bytes) -> bool:
    """Returns whether a line reads `## id · kind`. It may still be in a program, which only `sniff` sees."""
    return bool(_DECLARED.search(text) if isinstance(text, str) else _DECLARED_UTF8.search(text))


def sniff(document: Document) -> bool:
    """Returns whether a heading reads `id · kind · level`, or the front matter names a bank and no recipe."""
    named = bool(scalar(document.front, "bank")) and not any(key == "recipe" for key, _ in entries(document.front))
    return named or any(
        section.heading.level == 2 and _HEADER.fullmatch(plain(section.heading.text)) for section in document.sections
    )


def read(document: Document) -> Draft:
    """Reads all questions of the document. The whole document is in this dialect."""
    draft = Draft()
    for section in document.sections:
        heading = section.heading
        if heading.level == 1:
            if not _TOPIC.fullmatch(plain(heading.text)):
                draft.findings.append(
                    _finding(document, heading, "Q114", "this is not a topic", _TOPIC_HELP, "warning")
                )
        elif heading.level == 2:
            _read_question(document, draft, section)
        elif not section.above or section.above[-1].level < 2:
            draft.findings.append(
                _finding(document, heading, "Q113", "this heading is outside a question", _OUTSIDE_HELP)
            )
    return draft


_TOPIC_HELP = "write a path of lower-case words, such as `# tensors/memory`"
_OUTSIDE_HELP = "start a question with `## id · kind · level` first"


def _read_question(document: Document, draft: Draft, section: Section) -> None:
    header = _header(document, draft, section)
    if header is None:
        return
    body = _body(document, draft, section, header.kind)
    draft.questions.append(_build(document, draft, section, header, body))


def _header(document: Document, draft: Draft, section: Section) -> _Header | None:
    """Returns the parsed `##` heading; None, with a finding for the section, if it is not readable."""
    words = [word.strip() for word in plain(section.heading.text).split("·")]
    problem = _header_problem(words)
    if problem:
        code, message, cure, word = problem
        finding = Finding(
            code,
            "error",
            message,
            document.source.span(section.heading.first, section.last),
            note="the question was left out",
            help=cure,
            skipped=True,
            word=word,
        )
        draft.findings.append(finding)
        return None
    level = cast("Level", words[2]) if len(words) == 3 else None
    return _Header(words[0], cast("Kind", words[1]), level)


def _header_problem(words: list[str]) -> tuple[str, str, str, str] | None:
    """Returns code, message and cure for the first word of a heading that is wrong, and the word."""
    if len(words) == 1 and (other := _OTHER_SIGN.fullmatch(words[0])):
        cure = f"write `## {' · '.join(word for word in other.groups() if word)}`, with the sign `·` between the words"
        return "Q110", "this heading is not `id · kind · level`", cure, ""
    if len(words) not in (2, 3):
        return "Q110", "this heading is not `id · kind · level`", "write `## transpose-strides · choice · mid`", ""
    id, kind, *levels = words
    if not VALID_ID.fullmatch(id):
        return "Q110", f"`{id}` cannot be an id", "use lower-case words and numbers joined by hyphens", id
    if kind not in KINDS:
        cure = did_you_mean(kind, KINDS, f"the kinds are {', '.join(KINDS)}")
        return "Q111", f"`{kind}` is not a kind of question", cure, kind
    if levels and levels[0] not in LEVELS:
        cure = did_you_mean(levels[0], LEVELS, f"the levels are {', '.join(LEVELS)}")
        return "Q112", f"`{levels[0]}` is not a level", cure, levels[0]
    return None


def _body(document: Document, draft: Draft, section: Section, kind: Kind) -> _Body:
    cut = next((i for i, block in enumerate(section.body) if _is_part(block)), len(section.body))
    options: tuple[Option, ...] = ()
    end = section.heading.last
    for block in section.body[:cut]:
        if is_options(block) and not options:
            options = read_options(document, block)
        elif options:
            draft.findings.append(_finding(document, block, "Q118", "this text is after the options", _BEHIND_HELP))
        else:
            end = block.last
    if options and kind != "choice":
        draft.findings.append(
            _finding(document, section.heading, "Q119", f"{_a(kind)} question has no options", _KIND_HELP)
        )
    named, wrong = _sorted_parts(document, draft, section, kind)
    return _Body((section.heading.last + 1, end), options, named, wrong)


_BEHIND_HELP = "put it before the first option, or under `### Why`"
_KIND_HELP = "make it a `choice`, or remove the check boxes"


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
        cure = did_you_mean(name, _PARTS, f"the parts are {', '.join(_PARTS)} name")
        return f"`{name}` is not a part of a question", cure
    if kind not in _PARTS[name]:
        fitting = ", ".join(sorted(_PARTS[name]))
        return f"{_a(kind)} question has no `{name}`", f"`{name}` belongs to questions of the kind {fitting}"
    if name in named:
        return f"`{name}` appears twice", "merge them, or remove one"
    return None


def _complain_of_part(document: Document, draft: Draft, part: Part, message: str, cure: str) -> None:
    span = document.source.span(part.heading.first, part.last)
    meant = part.name if part.name in _PARTS else nearest(part.name, _PARTS)
    draft.findings.append(Finding("Q113", "error", message, span, help=cure, word=part.name, part=meant))


def _finding(
    document: Document, block: Block, code: str, message: str, cure: str, severity: Severity = "error"
) -> Finding:
    """Returns a finding about a block."""
    return Finding(code, severity, message, document.source.span(block.first, block.last), help=cure)


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
        why=prose(document, named.get("Why")),
        hint=prose(document, named.get("Hint")),
        program=program(document, draft, named.get("Program")),
        options=body.options,
        task=_task(document, draft, body) if header.kind == "code" else None,
        key_points=tuple(text for text, _ in bullets(document, draft, named.get("Key points"))),
        proof=program(document, draft, named.get("Proof")),
        unproved=prose(document, named.get("Unproved")),
        draw=program(document, draft, named.get("Draw")),
        code_blocks=_shown_code(document, first, last, body),
        level=header.level,
        topic=topic,
        section=section.path,
        links=links(document, draft, named.get("Links")),
        tags=tags(document, named.get("Tags")),
    )


def _answer(document: Document, draft: Draft, kind: Kind, named: dict[str, Part]) -> str | None:
    if kind == "value":
        return literal(document, draft, named.get("Answer"))
    if kind == "output" and "Output" in named:
        return program(document, draft, named["Output"])
    return prose(document, named.get("Answer")) or None


def _task(document: Document, draft: Draft, body: _Body) -> CodeTask:
    starter, reference, cases, driver, oracle = (
        program(document, draft, body.named.get(name)) for name in ("Starter", "Reference", "Cases", "Driver", "Oracle")
    )
    wrong = tuple(Wrong(part.name.removeprefix(_WRONG).strip(), program(document, draft, part)) for part in body.wrong)
    entry = _entry(document, draft, body.named.get("Starter"), starter)
    task = CodeTask(entry, starter, reference, cases, driver, oracle, wrong)
    return with_limits(document, draft, body.named.get("Limits"), task)


def _entry(document: Document, draft: Draft, part: Part | None, starter: str) -> str:
    tree = parse_python(starter)
    names = () if isinstance(tree, SyntaxError) else defined(tree)
    if len(names) == 1:
        return names[0]
    if part is not None and starter and not isinstance(tree, SyntaxError):
        message = f"the starter defines {len(names)} functions or classes at module level, it must define one"
        draft.findings.append(_finding(document, part.heading, "Q121", message, "keep only the one to be written"))
    return ""


def _shown_code(document: Document, first: int, last: int, body: _Body) -> tuple[CodeBlock, ...]:
    hidden = [body.named[name] for name in _HIDDEN if name in body.named] + body.wrong
    lines = {line for part in hidden for line in range(part.heading.first, part.last + 1)}
    return tuple(block for block in document.code_between(first, last) if block.line - 1 not in lines)
