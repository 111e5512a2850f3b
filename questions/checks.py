"""Checks for every question and bank of any format. Runs no program."""

from __future__ import annotations

import dataclasses
import re
from operator import attrgetter
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.drivers import read_facts, wrong_facts
from questions.model import is_literal, names_bound
from questions.source import UNSTORABLE, Finding, Span
from questions.wording.part_titles import is_part_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.model import Bank, CodeTask, Question
    from questions.source import Severity, Source


_UNRANKED = "scores no points"
"""What the prompt of a question with an unprotected fact says."""
_WRONG_SOLUTIONS = 3
"""Wrong solutions that a `code` question needs."""
_SELF_PROVING = ("output", "code")
"""Kinds whose own parts are the proof: program and output, or reference and wrong solutions. A family is proved by its
variants."""
_PROMISE = re.compile(r"\b(?P<count>\d{1,4})\+?\s+(?:[\w&/+-]+\s+){0,4}(?:questions|q&as?)\b", re.IGNORECASE)


def check_bank(bank: Bank, source: Source) -> tuple[Finding, ...]:
    """Returns all findings about a bank read from `source`."""
    found = [finding for question in bank.questions for finding in check_question(question, bank, source)]
    return (*found, *(finding for check in _OF_BANK for finding in check(bank, source)))


def check_question(question: Question, bank: Bank, source: Source) -> Iterator[Finding]:
    """Yields the findings about a single question."""
    report = _Report(question, source, ours="native" in bank.dialects)
    if not question.prompt.strip():
        yield report.finding("Q200", "the question has no prompt", "write the prompt below the heading")
    if found := UNSTORABLE.search("\n".join(_texts(question))):
        message = f"a text of the question contains U+{ord(found[0]):04X}, which is not a character"
        yield report.finding("Q010", message, "remove it from the data")
    check = _OF_KIND.get(question.kind)
    if check is not None:
        yield from check(question, report)
    if "native" in bank.dialects:
        yield from _native(question, report)


_GETTERS: dict[type, Callable[[object], tuple[object, ...]] | None] = {}
"""A function that returns all fields of an object, by its class; None for classes without fields."""


def _fields_of(part: object) -> tuple[object, ...]:
    kind = type(part)
    if kind not in _GETTERS:
        names = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
        _GETTERS[kind] = attrgetter(*names) if len(names) > 1 else None
    getter = _GETTERS[kind]
    return getter(part) if getter else ()


def _texts(part: object) -> Iterator[str]:
    """Yields every text of a question that is not empty, in any of its parts, in order."""
    for value in part if isinstance(part, tuple) else _fields_of(part):
        if isinstance(value, str):
            yield value
        elif value:
            yield from _texts(value)


_NO_BOX = re.compile(r"\s*[-*+]\s+\[\]\s")
_OTHER_DASH = re.compile(r"\s(?:-{1,3}|–)\s")
"""What authors write in place of the dash before a reason."""
_CODE = re.compile(r"`+[^`]*`+")
_BOX = "] "
"""What stands before an option, so that a short one such as `a` is not found in the heading."""


class _Report:
    """Builds findings about one question."""

    def __init__(self, question: Question, source: Source, *, ours: bool) -> None:
        self.ours = ours
        """Whether the question is from a bank in the native format, which has stricter rules than an imported
        document."""
        self._place = question.place
        self._source = source

    def finding(
        self,
        code: str,
        message: str,
        cure: str,
        *,
        at: str = "",
        after: str = "",
        severity: Severity = "error",
        label: str = "",
        part: str = "",
    ) -> Finding:
        """Returns a finding at the line that contains `at`, if possible after `after`, or at the question's first
        line."""
        place = self._place
        span = self._source.span_of(place.line, place.end_line, at, after) if at else self._source.span(place.line)
        return Finding(code, severity, message, span, label=label, help=cure, part=part)

    def line_matching(self, pattern: re.Pattern[str]) -> str:
        """Returns the first line of the question that matches; empty if none does."""
        lines = map(self._source.line, range(self._place.line, self._place.end_line + 1))
        return next((line for line in lines if pattern.match(line)), "")

    def syntax(self, part: str, program: str, error: SyntaxError) -> Finding:
        """Returns a finding at the program line that Python cannot parse."""
        lines = program.split("\n")
        line = error.lineno if error.lineno and error.lineno <= len(lines) else 0
        message, cure = f"the {part} is not valid Python", "fix the syntax error"
        bad = lines[line - 1] if line else ""
        return self.in_program("Q220", message, cure, program, line, at=bad, label=error.msg or "")

    def in_program(
        self, code: str, message: str, cure: str, program: str, line: int = 1, *, at: str = "", label: str = ""
    ) -> Finding:
        """Returns a finding at a line of a program, counted from 1. Where the document does not contain the program
        unchanged, it is at the line that contains `at`."""
        place = self._place
        start = self._source.line_of(place.line, place.end_line, program) if line else 0
        if not start:
            return self.finding(code, message, cure, at=at or program, label=label)
        return Finding(code, "error", message, self._source.span(start + line - 1), label=label, help=cure)


def _choice(question: Question, report: _Report) -> Iterator[Finding]:
    if question.draw:
        yield from _family(question, report)
        return
    options = question.options
    box = report.line_matching(_NO_BOX) if report.ours and len(options) < 2 else ""
    if box:
        yield report.finding("Q201", "`[]` is not a check box", "put a space between the brackets: `- [ ]`", at=box)
    elif len(options) < 2:
        yield report.finding(
            "Q201",
            f"a `choice` needs at least two options, it has {len(options)}",
            "write each as `- [ ] text — reason`, the correct one with `[x]`",
        )
    if options and report.ours and not any(option.right for option in options):
        yield report.finding("Q202", "no option is marked as correct", "mark it with `[x]`")
    ids: set[str] = set()
    texts: set[str] = set()
    for option in options:
        # An option may be a tag itself, such as `<h1>`.
        text = plain(option.text) or option.text.strip()
        if option.id in ids:
            yield report.finding(
                "Q204",
                f"two options have the id `{option.id}`",
                "use a different id for each",
                at=option.text,
                after=_BOX,
            )
        if text in texts:
            severity: Severity = "error" if report.ours else "warning"
            yield report.finding(
                "Q205",
                "two options are the same",
                "change or remove one",
                at=option.text,
                after=_BOX,
                severity=severity,
            )
        if not option.text:
            yield report.finding("Q206", f"option `{option.id}` is empty", "write its text after the check box")
        ids.add(option.id)
        texts.add(text)


def _family(question: Question, report: _Report) -> Iterator[Finding]:
    yield from _defines("draw", question.draw, ("draw",), report)
    for part, written in (("options", question.options), ("Answer", question.answer), ("Program", question.program)):
        if written:
            yield report.finding(
                "Q240", f"a family generates its {part}", f"remove {part}: `draw(rng)` returns it", at=f"### {part}"
            )


def _value(question: Question, report: _Report) -> Iterator[Finding]:
    if question.draw:
        yield from _family(question, report)
    elif question.answer is None:
        cure = "write it under `### Answer` in backticks"
        yield report.finding("Q209", "a `value` question needs an answer", cure, part="Answer")
    elif question.answer and not is_literal(question.answer):
        yield report.finding(
            "Q210",
            f"`{question.answer}` is not a Python literal",
            "write a number, a string, a tuple, a list, a dict, True, False or None",
            at="### Answer",
        )


def _output(question: Question, report: _Report) -> Iterator[Finding]:
    if not question.program:
        cure = "put it in a fence under `### Program`"
        yield report.finding("Q211", "an `output` question needs a program", cure, part="Program")
    else:
        yield from _parses("program", question.program, report)
    if not question.answer:
        cure = "put it in a fence under `### Output`"
        yield report.finding("Q212", "an `output` question needs its output", cure, part="Output")


def _code(question: Question, report: _Report) -> Iterator[Finding]:
    task = question.task
    if task is None:
        yield report.finding("Q213", "a `code` question needs a task", "write Starter, Reference, Cases and Wrong")
        return
    yield from _defines("starter", task.starter, (), report)
    yield from _defines("reference", task.reference, (task.entry,), report)
    yield from _defines("cases", task.cases, ("examples", "cases"), report)
    if task.driver:
        yield from _defines("driver", task.driver, ("drive",), report)
        yield from _driver(question, task, report)
    if task.oracle:
        yield from _parses("oracle", task.oracle, report)
    yield from _wrongs(task, report)


def _driver(question: Question, task: CodeTask, report: _Report) -> Iterator[Finding]:
    facts = read_facts(task.driver)
    if facts.problem:
        cure = "declare each as `value`, `effect` or `unprotected`"
        yield report.finding("Q225", facts.problem, cure, at=facts.at)
        return
    for message, at in wrong_facts(task.driver):
        yield report.finding("Q226", message, "measure it outside, or call it what it is", at=at)
    if facts.protected and task.device != "cpu":
        yield report.finding("Q227", "a driver with its own process is for the CPU", "remove `device`", at="device")
    if facts.unprotected and _UNRANKED not in question.prompt:
        names = ", ".join(f"`{name}`" for name in facts.unprotected)
        message = f"an answer can forge {names}, so the question {_UNRANKED}"
        yield report.finding("Q228", message, f"say in the prompt that it {_UNRANKED}, or ask for a value")


def _wrongs(task: CodeTask, report: _Report) -> Iterator[Finding]:
    if len(task.wrong) < _WRONG_SOLUTIONS:
        yield report.finding(
            "Q223",
            f"a `code` question needs {_WRONG_SOLUTIONS} wrong solutions, it has {len(task.wrong)}",
            "add plausible ones under `### Wrong: name of the mistake`",
        )
    for index, wrong in enumerate(task.wrong):
        if not wrong.name or any(wrong.name == other.name for other in task.wrong[:index]):
            yield report.finding("Q224", f"a wrong solution needs a unique name, not `{wrong.name}`", "name it")
        yield from _defines(f"wrong solution `{wrong.name}`", wrong.code, (task.entry,), report)


def _defines(part: str, program: str, names: tuple[str, ...], report: _Report) -> Iterator[Finding]:
    if not program:
        name = part.capitalize()
        yield report.finding("Q221", f"the {part} is missing", f"put it in a fence under `### {name}`", part=name)
        return
    bound = names_bound(program)
    if isinstance(bound, SyntaxError):
        yield report.syntax(part, program, bound)
        return
    for name in names:
        if name and name not in bound:
            message, cure = f"`{name}` is not defined in the {part}", f"add `def {name}(…)`"
            yield report.in_program("Q222", message, cure, program)


def _parses(part: str, program: str, report: _Report) -> Iterator[Finding]:
    bound = names_bound(program)
    if isinstance(bound, SyntaxError):
        yield report.syntax(part, program, bound)


def _native(question: Question, report: _Report) -> Iterator[Finding]:
    """Yields findings about rules that only banks in the native format have to follow."""
    for option in question.options:
        if not option.right and not option.reason:
            yield report.finding(
                "Q203",
                f"wrong option `{option.id}` has no reason",
                f"write ` — ` in place of `{dash[0]}`, which is part of the option"
                if (dash := _OTHER_DASH.search(_CODE.sub("", option.text)))
                else "add ` — ` and the misconception behind it",
                at=option.text,
                after=_BOX,
            )
    if question.kind == "open" and not question.key_points:
        yield report.finding("Q231", "an `open` question needs key points", "list them under `### Key points`")
    if question.kind == "open" and question.answer is None:
        yield report.finding("Q232", "an `open` question needs an answer", "write it under `### Answer`")
    if question.proof:
        yield from _parses("proof", question.proof, report)
    elif question.kind not in _SELF_PROVING and not question.draw and not question.unproved:
        yield report.finding(
            "Q230",
            "nothing proves the key",
            "add a program under `### Proof` that fails when the key is false",
            severity="warning",
        )


_OF_KIND: dict[str, Callable[[Question, _Report], Iterator[Finding]]] = {
    "choice": _choice,
    "value": _value,
    "output": _output,
    "code": _code,
}


def _duplicate_ids(bank: Bank, source: Source) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for question in bank.questions:
        line = seen.setdefault(question.id, question.place.line)
        if line != question.place.line:
            finding = _double(source, question, "error", "Q301", f"the id `{question.id}` is taken", line)
            yield dataclasses.replace(finding, word=question.id)


def _duplicate_prompts(bank: Bank, source: Source) -> Iterator[Finding]:
    seen: dict[tuple[str, ...], Question] = {}
    for question in bank.questions:
        texts = sorted(plain(one.text) for one in question.options)
        first = seen.setdefault((plain(question.prompt).casefold(), question.program, *texts), question)
        line = first.place.line
        if line == question.place.line:
            continue
        if first.answered and question.answered and _key_of(first) != _key_of(question):
            yield _double(source, question, "warning", "Q306", "the same question has a different answer", line)
        else:
            yield _double(source, question, "warning", "Q302", "duplicate question", line)


def _key_of(question: Question) -> tuple[str, ...]:
    """Returns the answer key in a form that ignores the order and the letters of options."""
    if question.options:
        return tuple(sorted(plain(option.text) for option in question.options if option.right))
    return (" ".join((question.answer or "").split()),)


def _repeated_numbers(bank: Bank, source: Source) -> Iterator[Finding]:
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    end = 0
    counted = _counted_by_markdown(bank, source)
    for question in bank.questions:
        if _begins_part(source, end, question):
            seen = {key: line for key, line in seen.items() if key[0] != question.section}
        end = question.place.end_line
        if not question.number or question.section in counted:
            continue
        line = seen.setdefault((question.section, question.number), question.place.line)
        if line != question.place.line:
            yield _double(source, question, "warning", "Q303", f"number {question.number} is used twice", line)


def _counted_by_markdown(bank: Bank, source: Source) -> set[tuple[str, ...]]:
    """Returns the sections in which all questions are items with the number 1, so that Markdown counts them."""
    ones: dict[tuple[str, ...], list[bool]] = {}
    for question in bank.questions:
        if question.number:
            line = source.line(question.place.line).lstrip()
            ones.setdefault(question.section, []).append(line.startswith(("1. ", "1) ")))
    return {section for section, found in ones.items() if len(found) >= _FEWEST_COUNTED and all(found)}


_FEWEST_COUNTED = 3
"""Fewest such items: between two, a third may not have been read."""
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<text>\S.*)")


def _begins_part(source: Source, end: int, question: Question) -> bool:
    """Returns whether another section with the same name, or another part, begins above a question, below line `end`:
    numbers start over there."""
    for number in range(end + 1, question.place.line) if 0 < end < question.place.line else ():
        line = source.line(number)
        heading = _HEADING.match(line)
        name = plain(heading["text"]) if heading else ""
        if (name and question.section and name == question.section[-1]) or is_part_title(line):
            return True
    return False


def _missing_numbers(bank: Bank, source: Source) -> Iterator[Finding]:
    before: dict[tuple[str, ...], int] = {}
    known = _numbers_of_all(bank)
    for question in bank.questions:
        number = _count(question.number)
        last = before.get(question.section, number)
        between = range(last + 1, number) if number and last else ()
        if missing := [one for one in between if one not in known]:
            known.update(missing if known else ())
            yield Finding(
                "Q305",
                "note",
                f"{_listed(missing)} missing before this question",
                source.span(question.place.line),
                help="if it is in the document, write it like the others",
            )
        before[question.section] = number
        if question.number[-1:].isalpha() and number and question.section:
            # `4a` may be below a heading with the number 4.
            before[question.section[:-1]] = number


def _count(number: str) -> int:
    """Returns the number of a question, without the letter of a part; 0 if it has none. Numbers in documents may have
    any length; only small ones are compared."""
    counted = number[:-1] if number[-1:] in tuple("abcdefgh") else number
    return int(counted) if counted.isdecimal() and len(counted) < 5 else 0


def _numbers_of_all(bank: Bank) -> set[int]:
    """Returns the numbers of all questions if no two have the same, so that they count through the whole document and
    chapters need not have them in order; otherwise none."""
    numbers = [number for question in bank.questions if (number := _count(question.number))]
    return set(numbers if len(set(numbers)) == len(numbers) else ())


def _listed(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"number {numbers[0]} is"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"numbers {numbers[0]} to {numbers[-1]} are"
    shown = ", ".join(map(str, numbers[:_MOST_LISTED]))
    return f"numbers {shown}{' and others' if len(numbers) > _MOST_LISTED else ''} are"


_MOST_LISTED = 10
"""Most numbers that a finding lists."""


def _double(source: Source, question: Question, severity: Severity, code: str, message: str, line: int) -> Finding:
    return Finding(
        code,
        severity,
        message,
        source.span(question.place.line),
        note=f"the first is on line {line}",
        help="change one of the two",
    )


def _promised_count(bank: Bank, source: Source) -> Iterator[Finding]:
    found = _PROMISE.search(bank.title)
    if found is None or not bank.questions or int(found["count"]) == len(bank.questions):
        return
    line = next((n for n, text in enumerate(source.lines, 1) if found[0] in text), 1)
    yield Finding(
        "Q304",
        "warning",
        f"the title says {found['count']} questions, the document has {len(bank.questions)}",
        source.span_of(line, line, found[0]) if source.line(line) else Span(1, 1, 1, 2),
        help="correct the title, or look for questions that were not recognized",
    )


_OF_BANK: tuple[Callable[[Bank, Source], Iterator[Finding]], ...] = (
    _duplicate_ids,
    _duplicate_prompts,
    _repeated_numbers,
    _missing_numbers,
    _promised_count,
)
