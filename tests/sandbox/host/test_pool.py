"""The zygote and its parked children as processes: who they are, and what happens when they are killed."""

from __future__ import annotations

import asyncio
import os
import resource
import signal

import psutil
import pytest

from sandbox.client import SandboxClient
from sandbox.embedded import EmbeddedSandbox
from sandbox.framing import MEMORY_BYTES
from sandbox.host import jail, pool
from sandbox.host.pool import ChildPool, PoolSettings, Zygote
from sandbox.host.process import Child
from sandbox.wire import Limits, Run
from tests.sandbox.processes import alive, below, gone, kill, states, status

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


@pytest.mark.parametrize("lacks", ["nothing", "O_TMPFILE", "/dev/shm"])
def test_a_child_s_memory_has_no_name_and_its_whole_size(lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacks == "O_TMPFILE":
        # What a kernel that does not know the flag makes of it: it refuses to write to a folder.
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    elif lacks == "/dev/shm":
        monkeypatch.setattr(pool, "_MEMORY_FOLDER", None)
    one, other = pool._new_memory(), pool._new_memory()
    try:
        for descriptor in (one, other):
            found = os.fstat(descriptor)
            assert (found.st_nlink, found.st_size, found.st_mode & 0o077) == (0, MEMORY_BYTES, 0)
        os.pwrite(one, b"x", 0)
        assert (os.pread(one, 1, 0), os.pread(other, 1, 0)) == (b"x", b"\0")
    finally:
        os.close(one)
        os.close(other)


async def test_a_parked_child_that_died_is_not_given_a_run(survivor: EmbeddedSandbox) -> None:
    await survivor.client.until_ready()
    _, _, *children = below(survivor.process.pid)
    kill(children)
    assert await gone(children)
    assert (await survivor.client.run(Run("x", "print(1)"))).status == "ok"


async def test_no_process_of_it_is_root_or_knows_our_environment(
    sandbox: EmbeddedSandbox, client: SandboxClient
) -> None:
    # Without those that hold torch's compiler, which another test may have started.
    jails = psutil.Process(sandbox.process.pid).children()
    (bwrap,) = [jail.pid for jail in jails if '"compiler": false' in " ".join(jail.cmdline())]
    pids = alive(below(bwrap))
    # One is the zygote. A child that is not parked yet may still be raising its walls.
    while not (os.cpu_count() or 1) < (await client.health()).ready == len(pids) - 1:
        pids = alive(below(bwrap))
    zygote, *children = states(pids)
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


async def exited(child: Child) -> None:
    """Waits until the kernel says that the child has ended, reaped or not."""
    readable = asyncio.Event()
    asyncio.get_running_loop().add_reader(child.pidfd, readable.set)
    try:
        await asyncio.wait_for(readable.wait(), 60)
    finally:
        asyncio.get_running_loop().remove_reader(child.pidfd)


async def test_a_process_id_in_use_is_not_freed_even_if_its_child_ends() -> None:
    zygote = await Zygote.start(jail.probe(weaker=False).bwrap)
    try:
        child, other = await zygote.spawn(16), await zygote.spawn(16)
        assert child.meter is not None
        assert child.keep_pid is not None
        assert other.keep_pid is not None
        async with child.keep_pid() as kept:
            assert kept
            child.kill()
            await exited(child)
            async with other.keep_pid():
                pass  # the zygote has answered, so it has seen the end before
            assert not child.ended.done()
            assert status(child.meter.pid)["State"].startswith("Z")
        assert (await asyncio.wait_for(asyncio.shield(child.ended), 60)).code == -signal.SIGKILL
        async with child.keep_pid() as kept:
            assert not kept, "it is reaped, so its process id may be anyone's"
        child.close()
        other.close()
    finally:
        await zygote.stop()


@pytest.mark.parametrize("spare", [0, 5, 8])
async def test_a_child_that_lacks_descriptors_leaves_none_open(spare: int) -> None:
    zygote = await Zygote.start(jail.probe(weaker=False).bwrap)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    before, free = psutil.Process().num_fds(), os.dup(0)
    os.close(free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + spare, limits[1]))
        with pytest.raises(OSError, match="Too many open files"):
            await zygote.spawn(16)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert psutil.Process().num_fds() == before
        (await zygote.spawn(16)).close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        await zygote.stop()


async def test_as_many_children_are_made_at_once_as_may_be() -> None:
    pool = ChildPool(PoolSettings(bwrap=jail.probe(weaker=False).bwrap, parked=3, disk_mb=16, spawn_at_once=2), print)
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


async def test_a_run_waits_for_a_child_as_long_as_the_pool_is_patient() -> None:
    pool = ChildPool(PoolSettings(bwrap=None, parked=1, disk_mb=16, patience_s=0.01), print)
    with pytest.raises(TimeoutError):
        await pool.take(16)
