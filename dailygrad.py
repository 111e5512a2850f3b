"""The `dailygrad` command: a table of all commands, each imported when it is called."""

from __future__ import annotations

import errno
import importlib
import sys
from importlib.metadata import version
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

DISK_FULL = "53100"
"""SQLSTATE with which PostgreSQL reports a full disk."""

MISTAKES = {
    "service.config.InvalidSettings",
    "service.process.CommandFailed",
    "service.store.session.PostgresFailed",
    "sandbox.host.jail.NotIsolated",
    "sandbox.client.SandboxUnreachable",
}
"""Exceptions whose message tells the operator what to do."""


class Entry(NamedTuple):
    """Where a command is defined, and its line in `dailygrad --help`."""

    app: str
    """`module:attribute` of a typer app."""
    help: str
    also: tuple[str, ...] = ()
    """Further modules that add commands to that app when they are imported."""


COMMANDS = {
    "run": Entry("bot.all_in_one:run_command", "Start everything on this machine and print one address."),
    "demo": Entry("bot.demo:demo_command", "Look at weeks of a simulated team, in a folder of its own."),
    "doctor": Entry("bot.doctor.command:doctor_command", "Check what works here and how to fix the rest."),
    "serve": Entry("service.cli:service_command", "Start the question service alone."),
    "work": Entry("service.cli:service_command", "Start a worker: schedules, jobs and code answers."),
    "migrate": Entry("service.cli:service_command", "Bring the database to this version."),
    "sign-in": Entry("service.cli:service_command", "Make a link that signs a member in to the web chat."),
    "reencrypt": Entry("service.cli:service_command", "Encrypt stored tokens again with the newest key."),
    "ops": Entry("bot.operations:operations_command", "Show what runs, what waits and what failed."),
    "regrade": Entry("service.cli:service_command", "Grade recorded answers again and compare."),
    "backup": Entry("service.ops.backups:backups_command", "Write the database to a file."),
    "restore": Entry("service.ops.backups:backups_command", "Fill an empty database from a backup."),
    "archive": Entry("service.ops.parquet:archive_command", "Write closed months to Parquet files for analysis."),
    "bot": Entry("bot.cli:bot_command", "Start a chat in front of a service."),
    "bank": Entry(
        "questions.cli:bank_command",
        "Read, check, prove, import and export banks of questions.",
        also=("service.bank_cli", "bot.preview.command"),
    ),
    "sandbox": Entry("sandbox.cli:sandbox_command", "Run PyTorch code, isolated."),
}
GROUPS = ("bot", "bank", "sandbox")
"""Commands that are groups with commands of their own. The app of any other command defines several of them."""


class LazyCommands(TyperGroup):
    """The commands in COMMANDS. Listing them imports nothing, so `dailygrad --help` starts at once."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else TyperCommand(cmd_name, help=entry.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        # The names among which a mistyped one is looked up.
        self.commands = {one: command for one in COMMANDS if (command := self.get_command(ctx, one))}
        name, found, rest = super().resolve_command(ctx, args)
        if name is None or found is None:
            return name, found, rest
        start_logging()
        return name, load(name), rest


def start_logging() -> None:
    """Configures logging for commands that do not do so themselves."""
    # structlog imports it for colored tracebacks, which our logs do not have: with Pygments, 2 MB of each process.
    unused = "rich.traceback"
    known = sys.modules.get(unused)
    sys.modules[unused] = known  # type: ignore[assignment]  # None: an import fails, as if it were not installed
    try:
        from service.logs import log_to
    finally:
        if known is None:
            del sys.modules[unused]
    log_to(None, "warning", plain=True)


def load(name: str) -> Any:
    """Imports a command of COMMANDS and returns it as click's object."""
    entry = COMMANDS[name]
    module, attribute = entry.app.split(":")
    app: typer.Typer = getattr(importlib.import_module(module), attribute)
    for other in entry.also:
        importlib.import_module(other)
    outer = typer.Typer(add_completion=False)
    outer.callback()(lambda: None)
    outer.add_typer(app, name=name if name in GROUPS else None)
    loaded: Any = typer.main.get_command(outer)
    return loaded.commands[name]


command = typer.Typer(
    cls=LazyCommands,
    help="The daily quiz for machine-learning teams: scheduled questions, private answers, leaderboards, practice.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@command.callback(invoke_without_command=True)
def options(
    show_version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """The daily quiz for machine-learning teams: scheduled questions, private answers, leaderboards, practice."""
    if show_version:
        print(f"dailygrad {version('dailygrad')}")  # noqa: T201
        raise typer.Exit


def main() -> None:
    """Runs the `dailygrad` command. An operator's mistake is explained in one sentence, with exit status 2."""
    try:
        command()
    except Exception as problem:
        reason = explained(problem)
        if reason is None:
            raise
        sys.stderr.write(f"dailygrad: {reason}\n")
        raise SystemExit(2) from None


def explained(problem: Exception) -> str | None:
    """Returns what to tell the operator about an error they can fix; None for any other error."""
    # By name: an import of these classes would make a mistyped setting wait for SQLAlchemy.
    names = {f"{one.__module__}.{one.__qualname__}" for one in type(problem).__mro__}
    if names & MISTAKES:
        return str(problem)
    if "sqlalchemy.exc.OperationalError" in names:
        cause = getattr(problem, "orig", None)
        reason = str(cause).strip().splitlines()[0]
        if getattr(cause, "sqlstate", None) == DISK_FULL:
            return f"the database's disk is full: {reason}. Make room there; nothing was changed."
        cure = "Check DATABASE_URL."
        if "authentication failed" in reason:
            cure = (
                "Check the password in DATABASE_PASSWORD_FILE or DATABASE_URL: PostgreSQL keeps the one of its first "
                "start until `alter role` changes it."
            )
        return f"the database cannot be used: {reason}. {cure}"
    if isinstance(problem, PermissionError) and problem.filename:
        return f"{problem.filename} cannot be used: {problem.strerror}. Change its owner or its permissions."
    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
        return f"the disk is full: {problem.filename or problem.strerror}. Make room there, and start again."
    return None


if __name__ == "__main__":
    main()
