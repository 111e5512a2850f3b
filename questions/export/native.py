"""Writes a bank in the native Markdown dialect. Every question is read back to check that it is unchanged.

The dialect cannot store a question's section, number, title and own license, or headings of the first three levels
inside a text. Ids other than words joined by hyphens, topics that cannot be headings, tags with commas, links that are
not URLs and spaced dashes in an option are changed or dropped. `held` returns what remains.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING, Any

import yaml

from questions.blocks import plain, split_blocks
from questions.dialects import native as dialect
from questions.dialects.native import split_reason
from questions.document import open_document
from questions.export.common import escape_line, escape_text, fence_text
from questions.formats.markdown import fence
from questions.ids import VALID_ID, nth_letter
from questions.model import SourceLocation, Tolerance
from questions.proofs import NONE as NO_GPU_PROOF
from questions.proofs import without_stale_proof
from questions.recipes import parse_recipe
from questions.source import URL, Source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from questions.model import Bank, CodeBlock, CodeTask, Option, Question


# The text of one question: heading, prompt, options and parts


def question_text(question: Question, blocks: Sequence[CodeBlock], way: Callable[[str], str]) -> tuple[str, str]:
    """Returns the topic heading, empty without a topic, and the question. `way` writes its texts."""
    topic = f"# {_line(question.topic)}" if question.topic else ""
    head = " · ".join(word for word in (question.id, question.kind, question.level or "") if word)
    prompt = way(question.prompt)
    bullet = _bullet(prompt) if question.options else ""
    parts = [f"## {head}", prompt]
    parts += ["\n".join(_option_text(option, index, bullet, way) for index, option in enumerate(question.options))]
    parts += [f"### {name}\n\n{text}".rstrip() for name, text in _parts(question, _Languages(blocks), way)]
    return topic, "\n\n".join(part for part in parts if part)


def _bullet(prompt: str) -> str:
    """Returns a bullet marker that differs from the prompt's last list, so that the options start a new one."""
    blocks = split_blocks(Source("", tuple(prompt.split("\n"))))
    last = blocks[-1] if blocks else None
    return "*" if last and last.kind == "list" and prompt.split("\n")[last.first - 1].lstrip().startswith("-") else "-"


class _Languages:
    """The languages of a question's fences in its original document."""

    def __init__(self, blocks: Sequence[CodeBlock]) -> None:
        self._known = {block.text: block.language for block in blocks}

    def fence(self, text: str, usual: str) -> str:
        """Returns the text in a fence."""
        return fence(text, self._known.get(text, usual))

    def knows(self, text: str) -> bool:
        """Returns whether the text was in a fence."""
        return text in self._known


def _parts(question: Question, languages: _Languages, way: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    if question.program:
        yield "Program", languages.fence(question.program, "python")
    if question.kind == "output" and question.answer is not None:
        yield "Output", languages.fence(question.answer, "text")
    elif question.kind == "value" and question.answer is not None:
        yield "Answer", _literal(question.answer, languages)
    elif question.answer is not None:
        yield "Answer", way(question.answer)
    if question.key_points:
        yield "Key points", "\n".join(f"- {_below(way(point), 2)}" for point in question.key_points)
    if question.task:
        yield from _task(question.task)
    if question.draw:
        yield "Draw", fence(question.draw, "python")
    if question.hint:
        yield "Hint", way(question.hint)
    if question.why:
        yield "Why", way(question.why)
    if question.proof:
        yield "Proof", fence(question.proof, "python")
    if question.unproved:
        yield "Unproved", way(question.unproved)
    if question.links:
        yield "Links", "\n".join(f"- {link}" for link in question.links)
    if question.tags:
        yield "Tags", ", ".join(map(_line, question.tags))


def _task(task: CodeTask) -> Iterator[tuple[str, str]]:
    for name, program in (
        ("Starter", task.starter),
        ("Reference", task.reference),
        ("Cases", task.cases),
        ("Driver", task.driver),
        ("Oracle", task.oracle),
    ):
        if program:
            yield name, fence(program, "python")
    for wrong in task.wrong:
        yield f"Wrong: {_line(wrong.name)}".rstrip(), fence(wrong.code, "python")
    limits = list(_limits(task))
    if limits:
        yield "Limits", "\n".join(f"- {limit}" for limit in limits)


def _limits(task: CodeTask) -> Iterator[str]:
    usual = Tolerance()
    for name, value, default in (
        ("rtol", task.tolerance.rtol, usual.rtol),
        ("atol", task.tolerance.atol, usual.atol),
        ("wall_ms", task.wall_ms, type(task).__dataclass_fields__["wall_ms"].default),
        ("memory_mb", task.memory_mb, type(task).__dataclass_fields__["memory_mb"].default),
    ):
        if value != default:
            yield f"`{name}: {value!r}`"
    if task.device != "cpu":
        yield f"`device: {task.device}`"
        yield f"`gpu_proof: {task.gpu_proof or NO_GPU_PROOF}`"


def _literal(answer: str, languages: _Languages) -> str:
    """Returns a literal in backticks, or in a fence if backticks cannot hold it or it was in one."""
    bare = answer and answer == answer.strip() and "`" not in answer and "\n" not in answer
    return f"`{answer}`" if bare and not languages.knows(answer) else languages.fence(answer, "python")


def _option_text(option: Option, index: int, bullet: str, way: Callable[[str], str]) -> str:
    usual = nth_letter(index)
    text, reason = way(option.text), way(option.reason)
    head = f"{bullet} [{'x' if option.right else ' '}]"
    # Without an id, an option that begins with braces would lose them.
    if option.id != usual or text.startswith("{"):
        head += f" {{{option.id}}}"
    # A list, a fence or a table begins on a line of its own, and what follows it does, too.
    head += " " if _is_prose(text, 0) else "\n\n"
    if reason:
        text += (" — " if _is_prose(text, -1) and _is_prose(reason, 0) else "\n\n—\n\n") + reason
    return _below(head + text, 2)


def _is_prose(text: str, index: int) -> bool:
    """Returns whether a text's first or last block is a paragraph or a heading."""
    blocks = split_blocks(Source("", tuple(text.split("\n"))))
    return bool(blocks) and blocks[index].kind in ("paragraph", "heading")


def _below(text: str, columns: int) -> str:
    """Returns the text with all lines after the first indented."""
    first, *others = text.split("\n")
    return "\n".join([first, *(" " * columns + line if line.strip() else "" for line in others)])


def _line(text: str) -> str:
    """Returns plain words as one line of Markdown."""
    shown = " ".join(text.split())
    return shown if plain(shown) == shown and not shown.endswith("#") else escape_line(shown)


_ONLY: dict[str, tuple[str, ...]] = {
    "options": ("choice",),
    "answer": ("value", "output", "open"),
    "program": ("value", "output", "choice", "open"),
    "key_points": ("open",),
    "unproved": ("open",),
    "task": ("code",),
    "draw": ("choice", "value"),
}
"""The kinds that have each field."""
_NOWHERE = SourceLocation("", 0, 0)
_END = "dailygrad-end-of-question"
"""Id of a question read after each question, to check that it ends where it should."""


def native_text(bank: Bank) -> str:
    """Returns the bank as a native document; questions without a topic come first."""
    parts = [_front(bank)]
    topic = ""
    for question in sorted(_with_valid_ids(bank.questions), key=lambda question: question.topic != ""):
        text, as_topic = write_question(question)
        if as_topic != topic:
            topic = as_topic
            parts.append(topic)
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def storable(question: Question) -> Question:
    """Returns the question as the dialect can store it, except place, section and the order of its code."""
    empty = {name: _EMPTY[name] for name, kinds in _ONLY.items() if question.kind not in kinds}
    return dataclasses.replace(
        question,
        place=_NOWHERE,
        section=(),
        number="",
        title="",
        license="",
        code_blocks=(),
        links=tuple(link for link in question.links if URL.fullmatch(link)),
        tags=tuple(tag for word in question.tags if (tag := " ".join(word.replace(",", " ").split()))),
        topic=" ".join(question.topic.split()),
        **{
            "options": tuple(map(_option, question.options)),
            "task": question.task and without_stale_proof(question.task),
            **empty,
        },
    )


def _option(option: Option) -> Option:
    """Returns the option without a dash that would separate its text from its reason."""
    if not split_reason(option.text)[1]:
        return option
    return dataclasses.replace(option, text=re.sub(r"(?<=\s)—(?=\s)", "&mdash;", option.text))


_EMPTY: dict[str, Any] = {
    "options": (),
    "answer": None,
    "program": "",
    "key_points": (),
    "task": None,
    "draw": "",
    "unproved": "",
}


def _front(bank: Bank) -> str:
    lines = ["---", f"bank: {_scalar(bank.name)}", f"title: {_scalar(bank.title)}"]
    licenses = {question.license for question in bank.questions}
    license = bank.license or (licenses.pop() if len(licenses) == 1 else "")
    if license:
        lines.append(f"license: {_scalar(license)}")
    if bank.recipe:
        recipe = {"recipe": parse_recipe(bank.recipe).as_data()}
        lines.append(yaml.safe_dump(recipe, allow_unicode=True, sort_keys=False, width=10**9).strip())
    return "\n".join([*lines, "---"])


def _scalar(text: str) -> str:
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9 ._/()+-]*(?<! )", text):
        return text
    shown = " ".join(text.encode("utf-8", "replace").decode().split())
    return yaml.safe_dump(shown, default_style='"', allow_unicode=True, width=10**9).strip()


def _with_valid_ids(questions: tuple[Question, ...]) -> Iterator[Question]:
    """Yields the questions with valid and unique ids."""
    used = {question.id for question in questions}
    for question in questions:
        if VALID_ID.fullmatch(question.id):
            yield question
            continue
        words = "-".join(re.findall(r"[a-z0-9]+", question.id.lower()))
        mark = hashlib.sha256(question.id.encode("utf-8", "replace")).hexdigest()[:6]
        name = f"{words}-{mark}" if words else f"question-{mark}"
        while name in used:
            name += "-x"
        used.add(name)
        yield dataclasses.replace(question, id=name)


_STYLES: tuple[Callable[[str], str], ...] = (str, escape_text, fence_text)
"""Ways to write a text, in order: unchanged; escaped; as a code block."""


def write_question(question: Question) -> tuple[str, str]:
    """Returns the question and its topic heading, written in the first way that reads back correctly."""
    wanted = storable(question)
    best = ""
    for way in _STYLES:
        topic, text = question_text(wanted, question.code_blocks, way)
        again = _read_again(topic, text)
        if again is not None and _same(again, wanted):
            return text, topic
        if again is not None and not best and _same_key(again, wanted):
            best = text
    return best or text, topic


def _same(one: Question, other: Question) -> bool:
    return storable(one) == dataclasses.replace(other, topic=one.topic)


def _same_key(one: Question, other: Question) -> bool:
    """Returns whether everything that decides about an answer is equal, and each option has what it had."""
    keys, wanted = (
        [(option.id, option.right, bool(option.text), bool(option.reason)) for option in question.options]
        for question in (one, other)
    )
    same = (one.id, one.kind, one.answered) == (other.id, other.kind, other.answered)
    exact = one.kind not in ("value", "output") or one.answer == other.answer
    return keys == wanted and same and exact and one.task == other.task


def _read_again(topic: str, text: str) -> Question | None:
    """Returns the question read from a text; None if it is not exactly this one or has a finding."""
    end = f"## {_END} · open\n\nEnd."
    source, _ = open_source("\n\n".join(part for part in (topic, text, end) if part), "")
    draft = dialect.read(open_document(source))
    faults = [finding for finding in draft.findings if finding.severity == "error"]
    ids = [question.id for question in draft.questions]
    return draft.questions[0] if not faults and len(ids) == 2 and ids[1] == _END else None
