"""The zygote and its parked children as processes: who they are, and what happens when they are killed."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from sandbox.client import SandboxClient
from sandbox.embedded import EmbeddedSandbox
from sandbox.host import jail
from sandbox.host.pool import ChildPool
from sandbox.wire import Limits, Run
from tests.sandbox.processes import alive, below, gone, kill, states

pytestmark = pytest.mark.sandbox


async def test_a_killed_zygote_is_replaced_and_the_runs_it_took_along_are_ours_to_answer_for(
    survivor: EmbeddedSandbox,
) -> None:
    await survivor.client.until_ready()
    endless = asyncio.create_task(survivor.client.run(Run("x", "while True: pass", limits=Limits(wall_ms=60_000))))
    while (await survivor.client.health()).running == 0:
        await asyncio.wait([endless], timeout=0.01)
    bwrap, zygote, *children = below(survivor.process.pid)
    os.kill(zygote, signal.SIGKILL)
    outcome = await endless
    assert (outcome.status, outcome.results) == ("internal", b"")
    assert await gone([bwrap, zygote, *children])
    await survivor.client.until_ready()
    assert (await survivor.client.run(Run("y", "print('again')"))).stdout == "again\n"
    assert "the zygote died" in survivor.log.read_text()


async def test_a_parked_child_that_died_is_not_given_a_run(survivor: EmbeddedSandbox) -> None:
    await survivor.client.until_ready()
    _, _, *children = below(survivor.process.pid)
    kill(children)
    assert await gone(children)
    assert (await survivor.client.run(Run("x", "print(1)"))).status == "ok"


async def test_no_process_of_it_is_root_or_knows_our_environment(
    sandbox: EmbeddedSandbox, client: SandboxClient
) -> None:
    pids = alive(below(sandbox.process.pid))
    # Two are bubblewrap and the zygote. A child that is not parked yet may still be raising its walls.
    while not (os.cpu_count() or 1) < (await client.health()).ready == len(pids) - 2:
        pids = alive(below(sandbox.process.pid))
    _, zygote, *children = states(pids)
    for process in (zygote, *children):
        known = process.status
        assert known["Threads"] == "1"
        assert known["CapEff"] == "0000000000000000"
        if os.getuid() == 0:
            assert set(known["Uid"].split()) == {"65534"}
            assert process.environment is not None
            assert b"PATH" not in process.environment
    for child in children:
        assert (child.status["NoNewPrivs"], child.status["Seccomp"]) == ("1", "2")
        assert child.status["CapBnd"] == "0000000000000000"
        # The first to go when memory runs out, before anything of ours.
        assert child.oom_score == 1000


async def test_as_many_children_are_made_at_once_as_may_be() -> None:
    pool = ChildPool(jail.probe(weaker=False).bwrap, 3, 16, print, spawn_at_once=2)
    keeping, most = asyncio.create_task(pool.keep_filled()), 0
    try:
        async with asyncio.timeout(60):
            while len(pool.parked) < 3:
                most = max(most, pool.spawning)
                await asyncio.wait({keeping}, timeout=0.001)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    assert most == 2
