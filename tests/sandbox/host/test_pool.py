"""The zygote and its parked children as processes: who they are, and what happens when they are killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

import pytest

from sandbox.client import SandboxClient
from sandbox.embedded import EmbeddedSandbox
from sandbox.host import jail
from sandbox.host.pool import ChildPool
from sandbox.wire import Limits, Run
from tests.sandbox.processes import below, environment, gone, oom_score, status

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
    for child in children:
        with contextlib.suppress(ProcessLookupError):  # one that had done its run
            os.kill(child, signal.SIGKILL)
    assert await gone(children)
    assert (await survivor.client.run(Run("x", "print(1)"))).status == "ok"


async def test_no_process_of_it_is_root_or_knows_our_environment(
    sandbox: EmbeddedSandbox, client: SandboxClient
) -> None:
    _, zygote, *children = below(sandbox.process.pid)
    # One that is not parked yet may still be raising its walls.
    while not (os.cpu_count() or 1) < (await client.health()).ready == len(children):
        _, zygote, *children = below(sandbox.process.pid)
    for pid in (zygote, *children):
        known = status(pid)
        assert known["Threads"] == "1"
        assert known["CapEff"] == "0000000000000000"
        if os.getuid() == 0:
            assert set(known["Uid"].split()) == {"65534"}
            assert b"PATH" not in environment(pid)
    for pid in children:
        known = status(pid)
        assert (known["NoNewPrivs"], known["Seccomp"]) == ("1", "2")
        assert known["CapBnd"] == "0000000000000000"
        # The first to go when memory runs out, before anything of ours.
        assert oom_score(pid) == 1000


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
