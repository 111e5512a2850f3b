"""Programs that use torch's compiler get children that hold it; others do not pay for it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import client
from sandbox.client import SandboxClient
from sandbox.host import compiler, jail
from sandbox.host.compiler import CompilerExecutor, uses_compiler
from sandbox.host.pool import ChildPool, PoolSettings
from sandbox.host.supervisor import Supervisor, SupervisorSettings
from sandbox.wire import Limits, Run
from tests.sandbox.processes import gone

pytestmark = pytest.mark.sandbox
COMPILED = "import torch\nprint(torch.compile(torch.sin, backend='eager')(torch.zeros(1)))"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (COMPILED, True),
        ("from torch import compile", True),
        ("@torch.compile\ndef f(x): ...", True),
        ("import torch._dynamo", True),
        ("torch.profiler.profile()", True),
        ("from torch import nn, export", True),
        ("model.compile(backend='eager')", True),
        ("import re\nre.compile('a')", False),
        ("compile('1', 'a', 'eval')", False),
        ("import torch\ntorch.optim.SGD([torch.ones(1)], 0.1).step()", False),
    ],
)
def test_who_uses_it(code: str, expected: bool) -> None:
    assert uses_compiler(Run("x", code)) is expected
    assert uses_compiler(Run("x", "", entry="f", driver=code)) is expected


@pytest.mark.slow
async def test_a_compiled_program_needs_no_time_to_import_it(client: SandboxClient) -> None:
    outcome = await client.run(Run("x", COMPILED, limits=Limits(cpu_ms=450)))
    assert (outcome.status, outcome.stdout) == ("ok", "tensor([0.])\n"), outcome


async def test_another_program_runs_without_it(client: SandboxClient) -> None:
    code = "import sys, torch\nprint(type(vars(torch)['_' + 'dyn' 'amo']).__name__)"
    assert (await client.run(Run("x", code))).stdout == "_StandIn\n"


async def test_children_with_the_compiler_end_when_nobody_uses_them() -> None:
    found = CompilerExecutor(ChildPool(_settings(), print), idle_seconds=0.0)
    keeping = asyncio.create_task(found.keep_ready())
    try:
        child = await found.take(16)
        assert child.meter is not None
        assert await gone([child.meter.pid])
        child.close()
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _settings() -> PoolSettings:
    return PoolSettings(bwrap=jail.probe(weaker=False).bwrap, parked=1, disk_mb=16)


def test_a_client_waits_longer_than_the_pool_whose_zygote_takes_longest() -> None:
    assert PoolSettings(bwrap=None, parked=1, disk_mb=16).patience_s < compiler.PATIENCE_S < client.EXTRA_SECONDS


def test_the_supervisor_gives_the_compilers_pool_its_patience(tmp_path: Path) -> None:
    started = Supervisor(SupervisorSettings(socket=tmp_path / "socket", concurrency=1), jail.probe(weaker=False))
    assert started.compiler.pool.settings.patience_s == compiler.PATIENCE_S


async def test_a_run_that_gets_no_child_says_what_is_wrong_with_its_own_pool(tmp_path: Path) -> None:
    started = Supervisor(SupervisorSettings(socket=tmp_path / "socket", concurrency=1), jail.probe(weaker=False))
    for executor, trouble in ((started.cpu, "no disk"), (started.compiler, "no memory")):
        executor.pool.settings = replace(executor.pool.settings, patience_s=0.01)
        executor.pool.trouble = trouble
    for code, trouble in (("print(1)", "no disk"), (COMPILED, "no memory")):
        outcome = await started.run(Run("x", code))
        assert (outcome.status, outcome.detail) == (
            "internal",
            f"TimeoutError: no child was ready within 0.01 s. {trouble}",
        )
