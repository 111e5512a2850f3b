"""The commands that run code, confined: `dailygrad sandbox serve` and `dailygrad sandbox run`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sandbox import outcomes
from sandbox.__main__ import main as supervise
from sandbox.embedded import embedded_sandbox
from sandbox.wire import Device, Outcome, Run

sandbox_command = typer.Typer(help="Run PyTorch code, confined.", no_args_is_help=True)


@sandbox_command.command("serve", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def sandbox_serve(context: typer.Context) -> None:
    """Take runs on a unix socket: `dailygrad sandbox serve --socket PATH`; `-- --help` lists the options."""
    raise SystemExit(supervise(context.args))


@sandbox_command.command("run")
def sandbox_run(
    file: Annotated[typer.FileText, typer.Argument(help="A Python file, or - for standard input.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object of all that is known instead.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, or cuda for a GPU.")] = "cpu",
) -> None:
    """Run one program, confined: its output, and on the last line of stderr how it ended and what it took.

    The value of a last expression is printed, as in a notebook. The exit status is the program's own, 128 and the
    signal that ended it, 124 for its time, 137 for its memory, 126 for what the sandbox denies, else 1.
    """
    if device not in get_args(Device):
        raise typer.BadParameter(f"{device} is no device: cpu or cuda", param_hint="--device")
    outcome = asyncio.run(run_once(Run(id="run", code=file.read(), show_last=True, device=cast(Device, device))))
    if as_json:
        sys.stdout.write(outcomes.as_json(outcome) + "\n")
    else:
        sys.stdout.write(outcome.stdout)
        sys.stdout.flush()
        last = "" if outcome.stderr.endswith("\n") or not outcome.stderr else "\n"
        sys.stderr.write(f"{outcome.stderr}{last}{outcomes.summary(outcome)}\n")
    raise SystemExit(outcomes.exit_status(outcome))


async def run_once(run: Run) -> Outcome:
    """The outcome of a run in a sandbox that is started for it."""
    with tempfile.TemporaryDirectory() as directory:
        async with embedded_sandbox(Path(directory)) as sandbox:
            return await sandbox.run(run)
