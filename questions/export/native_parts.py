"""One question in our own Markdown: heading, prompt, options and parts. Judges nothing; native reads it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.blocks import plain, split_blocks
from questions.export.calm import escaped
from questions.foreign.wording import fence
from questions.model import Tolerance
from questions.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from questions.model import CodeBlock, CodeTask, Option, Question


def question_text(question: Question, blocks: Sequence[CodeBlock], way: Callable[[str], str]) -> tuple[str, str]:
    """The heading of its topic, empty where it has none, and the question; `way` is how texts are written."""
    topic = f"# {_line(question.topic)}" if question.topic else ""
    head = " · ".join(word for word in (question.id, question.kind, question.level or "") if word)
    prompt = way(question.prompt)
    bullet = _bullet(prompt) if question.options else ""
    parts = [f"## {head}", prompt]
    parts += ["\n".join(_option(option, index, bullet, way) for index, option in enumerate(question.options))]
    parts += [f"### {name}\n\n{text}".rstrip() for name, text in _parts(question, _Languages(blocks), way)]
    return topic, "\n\n".join(part for part in parts if part)


def _bullet(prompt: str) -> str:
    """The marker of the options: a prompt's last list must not go on in them."""
    blocks = split_blocks(Source("", tuple(prompt.split("\n"))))
    last = blocks[-1] if blocks else None
    return "*" if last and last.kind == "list" and prompt.split("\n")[last.first - 1].lstrip().startswith("-") else "-"


class _Languages:
    """What the fences of a question were marked with where it was read."""

    def __init__(self, blocks: Sequence[CodeBlock]) -> None:
        self._known = {block.text: block.language for block in blocks}

    def fence(self, text: str, usual: str) -> str:
        """The text in a fence."""
        return fence(text, self._known.get(text, usual))

    def knows(self, text: str) -> bool:
        """Whether it stood in a fence."""
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
    if question.why:
        yield "Why", way(question.why)
    if question.proof:
        yield "Proof", fence(question.proof, "python")
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


def _literal(answer: str, languages: _Languages) -> str:
    """A literal in backticks; in a fence where backticks cannot hold it, or where it stood in one."""
    bare = answer and answer == answer.strip() and "`" not in answer and "\n" not in answer
    return f"`{answer}`" if bare and not languages.knows(answer) else languages.fence(answer, "python")


def _option(option: Option, index: int, bullet: str, way: Callable[[str], str]) -> str:
    box = f"{bullet} [{'x' if option.right else ' '}] "
    usual = chr(ord("a") + index) if index < 26 else f"o{index + 1}"
    text = way(option.text)
    # An option that begins with braces would lose them for an id.
    named = f"{{{option.id}}} " if option.id != usual or text.startswith("{") else ""
    reason = f" — {way(option.reason)}" if option.reason else ""
    return box + _below(f"{named}{text}{reason}", 2)


def _below(text: str, columns: int) -> str:
    """The text with its lines below the first moved right."""
    first, *others = text.split("\n")
    return "\n".join([first, *(" " * columns + line if line.strip() else "" for line in others)])


def _line(text: str) -> str:
    """Plain words as one line of Markdown."""
    shown = " ".join(text.split())
    return shown if plain(shown) == shown and not shown.endswith("#") else escaped(shown)
