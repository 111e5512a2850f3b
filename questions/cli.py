"""Bank commands that need no database and no sandbox: `dailygrad bank check`, `list`, `show`, `export` …

Each prints text, or JSON with `--format json`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from questions.blocks import plain
from questions.export import FORMATS as EXPORTS
from questions.export import export_bank, unsupported_questions
from questions.export.native import native_text
from questions.formats import UNKNOWN
from questions.model import KINDS, LEVELS, Bank, Question, as_data
from questions.overview import Differences, Overview, QuestionFilter, differences, overview_of
from questions.reader import Reading, read_path, shipped_bank
from questions.report import (
    FORMATS,
    explain_code,
    explanations,
    finding_github,
    no_documents,
    reading_text,
    readings_json,
    total_text,
    unreadable_path,
)
from questions.suggestions import did_you_mean

bank_command = typer.Typer(help="Read, check, prove, import and export question banks.", no_args_is_help=True)

out = Console(highlight=False)
_BRIEF = 80
"""Maximum length of a prompt in a list, characters."""

Paths = Annotated[list[Path] | None, typer.Argument(help="Documents or folders; default: the shipped bank.")]
Form = Annotated[str, typer.Option("--format", help="text or json.")]

QuestionPattern = Annotated[str, typer.Option(help="Pattern of a question: '### {n}. {prompt}'.")]
AnswerPattern = Annotated[str, typer.Option(help="Pattern of an answer: '> **Answer: {key}**'.")]
RecipeLines = Annotated[
    list[str] | None,
    typer.Option("--recipe", help="A line of a recipe, such as 'prompt: Frage' to name a column; repeat it for more."),
]


def recipe_text(question: str, answer: str, lines: list[str] | None) -> str:
    """Returns the recipe that the options of a command state; empty if they state none."""
    patterns = [
        f"{name}: {json.dumps(pattern)}" for name, pattern in (("question", question), ("answer", answer)) if pattern
    ]
    return "\n".join([*patterns, *(lines or ())])


def refuse(message: str, status: int = 2) -> NoReturn:
    """Ends the command with an error message. Status 2 stands for wrong arguments, 1 for a wrong document."""
    sys.stderr.write(f"dailygrad: {message}\n")
    raise SystemExit(status)


def one_of(word: str, words: tuple[str, ...], option: str) -> str:
    """Returns the value of an option. Raises typer.BadParameter if it is not one of the allowed words."""
    if word not in words:
        known = [one for one in words if one]
        raise typer.BadParameter(did_you_mean(word, known, f"one of {', '.join(known)}"), param_hint=option)
    return word


def bank_at(paths: list[Path] | None, recipe: str = "") -> Bank:
    """Returns the questions of the documents as one bank, by default the shipped one. Ends the command if a path is
    unreadable or the recipe does not fit."""
    if not paths:
        return shipped_bank()
    banks = []
    for path in paths:
        try:
            readings = read_path(path, recipe)
        except OSError as error:
            refuse(unreadable_path(path, error))
        if not readings:
            refuse(no_documents(path))
        unknown = next((one for one in readings if one.bank.dialects == (UNKNOWN,)), None)
        if unknown:
            refuse(f"{unknown.source.name}: {unknown.findings[0].message}; {unknown.findings[0].help}", status=1)
        misfit = next((one for reading in readings for one in reading.findings if one.code == "Q009"), None)
        if misfit:
            refuse(f"{path}:{misfit.span.line}: {misfit.message}; {misfit.help}", status=1)
        banks += [reading.bank for reading in readings]
    if len(banks) == 1:
        return banks[0]
    questions = tuple(question for bank in banks for question in bank.questions)
    return Bank("banks", "Banks", questions, dialects=tuple(dict.fromkeys(d for bank in banks for d in bank.dialects)))


@bank_command.command("check")
def bank_check(
    paths: Annotated[list[Path], typer.Argument(help="Documents or folders.")],
    format: Annotated[str, typer.Option(help="text, json or github (workflow annotations).")] = "text",
    question: QuestionPattern = "",
    answer: AnswerPattern = "",
    recipe: RecipeLines = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every passage that belongs to no question.")
    ] = False,
) -> None:
    """Check banks and show each problem with line and caret.

    Exit status: 1 if a finding is an error, 2 if a path is missing or has no document.
    """
    if format not in FORMATS:
        raise typer.BadParameter("text, json or github", param_hint="--format")
    readings: list[Reading] = []
    missing: list[str] = []
    stated = recipe_text(question, answer, recipe)
    for path in paths:
        try:
            found = read_path(path, stated)
        except OSError as error:
            missing.append(unreadable_path(path, error))
        else:
            readings += found
            missing += [] if found else [no_documents(path)]
    if readings or format == "json":
        _print_readings(readings, format, verbose=verbose)
    sys.stderr.writelines(f"dailygrad: {message}\n" for message in missing)
    raise SystemExit(2 if missing else int(any(reading.has_errors for reading in readings)))


def _print_readings(readings: list[Reading], format: str, *, verbose: bool) -> None:
    if format == "json":
        sys.stdout.write(readings_json(readings) + "\n")
    elif format == "github":
        for reading in readings:
            sys.stdout.writelines(f"{finding_github(one, reading.source)}\n" for one in reading.findings)
    else:
        console = Console(highlight=False, soft_wrap=True)
        for reading in readings:
            console.print(reading_text(reading, verbose=verbose), end="")
        console.print(total_text(readings), end="")


@bank_command.command("explain")
def bank_explain(code: Annotated[str, typer.Argument(help="Code of a finding, such as P102.")]) -> None:
    """Explain a finding, with an example and the fix."""
    try:
        out.print(Markdown(explain_code(code)))
    except KeyError:
        refuse(f"unknown finding {code}; choose one of {', '.join(sorted(explanations()))}")


@bank_command.command("list")
def bank_list(
    paths: Paths = None,
    kind: Annotated[str, typer.Option(help=f"Only this kind: {', '.join(KINDS)}.")] = "",
    level: Annotated[str, typer.Option(help=f"Only this level: {', '.join(LEVELS)}.")] = "",
    topic: Annotated[str, typer.Option(help="Only this topic and its subtopics.")] = "",
    words: Annotated[
        str, typer.Option("--match", help="Only questions whose id, prompt, title or tags contain this.")
    ] = "",
    format: Form = "text",
) -> None:
    """List the questions of banks, one per line."""
    one_of(format, ("text", "json"), "--format")
    wish = QuestionFilter(one_of(kind, ("", *KINDS), "--kind"), one_of(level, ("", *LEVELS), "--level"), topic, words)
    questions = bank_at(paths).questions
    found = [question for question in questions if wish.matches(question)]
    if questions and not found:
        topics = {part for question in questions for part in _with_parents(question.topic)}
        unknown = topic and topic not in topics
        refuse(
            f"no question has the topic {topic}: {did_you_mean(topic, topics, 'see `bank stats`')}"
            if unknown
            else "no question matches: leave out an option",
            status=1,
        )
    if format == "json":
        _write_json([as_data(question) for question in found])
        return
    widest = max((len(question.id) for question in found), default=0)
    for question in found:
        sort = f"{question.kind}*" if question.draw else question.kind
        start = f"{question.id:{widest}}  {sort:7}  {question.level or '-':9}  {question.topic or '-':28}"
        end = "" if question.answered else "  [no answer]"
        out.print(f"{start}  {_brief(question.prompt)}{end}", markup=False, soft_wrap=True)
    families = sum(bool(question.draw) for question in found)
    unanswered = sum(not question.answered for question in found)
    parts = [f"including {_families(families)} (*)"] if families else []
    parts += [f"{unanswered} without an answer"] if unanswered else []
    out.print(", ".join([_questions(len(found)), *parts]))


def _with_parents(topic: str) -> list[str]:
    """Returns a topic and the topics above it."""
    steps = topic.split("/") if topic else []
    return ["/".join(steps[:end]) for end in range(1, len(steps) + 1)]


def _families(count: int) -> str:
    return f"{count} {'family' if count == 1 else 'families'}"


def _questions(count: int) -> str:
    return f"{count} question" if count == 1 else f"{count} questions"


def _brief(prompt: str) -> str:
    text = plain(prompt)
    return text if len(text) <= _BRIEF else f"{text[: _BRIEF - 1].rstrip()}…"


@bank_command.command("show")
def bank_show(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of a question.")],
    paths: Paths = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the Markdown source.")] = False,
) -> None:
    """Show a complete question with its key, explanation and proof."""
    bank = bank_at(paths)
    question = question_named(bank, id)
    text = native_text(Bank(bank.name, bank.title, (question,), bank.license, ("native",)))
    if raw:
        sys.stdout.write(text)
        return
    out.print(f"[bold]{question.place.source}:{question.place.line}[/bold]", markup=True)
    out.print(Markdown(text.partition("\n---\n")[2]))


def question_named(bank: Bank, id: str) -> Question:
    """Returns the question with that id. If there is none, ends the command and suggests similar ids."""
    found = next((question for question in bank.questions if question.id == id), None)
    if found is not None:
        return found
    ids = [question.id for question in bank.questions]
    near = [one for one in ids if id in one][:5]
    cure = f"did you mean {', '.join(near)}?" if near else did_you_mean(id, ids, "see `bank list`")
    return refuse(f"no question has the id {id}: {cure}")


@bank_command.command("stats")
def bank_stats(paths: Paths = None, format: Form = "text") -> None:
    """Count the questions of banks by kind, level and topic."""
    one_of(format, ("text", "json"), "--format")
    overview = overview_of(bank_at(paths).questions)
    if format == "json":
        _write_json({**asdict(overview), **{name: dict(getattr(overview, name)) for name in _TABLES}})
    else:
        _print_overview(overview)


_TABLES = ("kinds", "levels", "topics")


def _print_overview(overview: Overview) -> None:
    out.print(
        f"{_questions(overview.questions)}, including {_families(overview.families)}; "
        f"{overview.proved} with a proof, {overview.unanswered} without an answer"
    )
    for name in _TABLES:
        table = Table(box=None, show_header=False, pad_edge=False, title=name, title_justify="left")
        for value, count in getattr(overview, name):
            table.add_row(value, str(count))
        out.print()
        out.print(table)


@bank_command.command("diff")
def bank_diff(
    before: Annotated[Path, typer.Argument(help="The older version: a document or a folder.")],
    after: Annotated[Path, typer.Argument(help="The newer version.")],
    format: Form = "text",
) -> None:
    """Compare two versions of a bank by question id. Exits with status 1 if they differ."""
    one_of(format, ("text", "json"), "--format")
    found = differences(bank_at([before]).questions, bank_at([after]).questions)
    if format == "json":
        _write_json(asdict(found))
    else:
        _print_differences(found)
    raise SystemExit(int(bool(found)))


def _print_differences(found: Differences) -> None:
    for sign, ids in (("+", found.added), ("-", found.removed)):
        for id in ids:
            out.print(f"{sign} {id}", markup=False, soft_wrap=True)
    for difference in found.changed:
        out.print(f"~ {difference.id}: {', '.join(difference.fields)}", markup=False, soft_wrap=True)
    out.print(
        f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed, {found.same} unchanged"
    )


@bank_command.command("export")
def bank_export(
    format: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPORTS)}.")],
    paths: Paths = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file; default: the bank's name.")
    ] = None,
    question: QuestionPattern = "",
    answer: AnswerPattern = "",
    recipe: RecipeLines = None,
) -> None:
    """Export banks for other tools: Markdown, JSON, CSV, GIFT (Moodle) or an Anki package."""
    chosen = next((name for name in EXPORTS if name == format), None)
    if chosen is None:
        raise typer.BadParameter(f"one of {', '.join(EXPORTS)}", param_hint="FORMAT")
    bank = bank_at(paths, recipe_text(question, answer, recipe))
    file = output or Path(bank.name + EXPORTS[chosen].suffix)
    kept = [question for question in bank.questions if EXPORTS[chosen].holds(question)]
    try:
        file.write_bytes(export_bank(bank, chosen))
    except OSError as error:
        refuse(f"{file}: {error.strerror or error}: choose another file with --output")
    out.print(f"{file}: {_questions(len(kept))}", markup=False, soft_wrap=True)
    without = unsupported_questions(bank, chosen)
    if without:
        out.print(f"{len(without)} left out, because {chosen} cannot store families: {without[0].id} …", soft_wrap=True)


def _write_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
