"""The sandbox as the front door starts and stops it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sandbox import embedded
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.embedded import EmbeddedSandbox
from sandbox.wire import Run
from tests.sandbox.processes import below, environment, gone

pytestmark = pytest.mark.sandbox


async def test_an_embedded_sandbox_gets_nothing_of_our_environment(
    sandbox: EmbeddedSandbox, survivor: EmbeddedSandbox, tmp_path: Path
) -> None:
    if os.getuid() != 0:
        pytest.skip("it is not dumpable: only root can look into it")
    for started in (sandbox, survivor):
        words = environment(started.process.pid).split(b"\0")
        assert [word.partition(b"=")[0] for word in words if word] == [b"PATH"]


async def test_stopping_twice_is_harmless(tmp_path: Path) -> None:
    started = embedded.start(tmp_path / "made" / "for it")
    everyone = below(started.process.pid)
    first = started.stop()
    assert first in (0, -15)  # -15: it had not got as far as listening to signals
    assert started.stop() == first
    assert await gone(everyone)


async def test_a_failed_start_differs_from_a_slow_one(tmp_path: Path) -> None:
    (tmp_path / "sandbox.sock").write_text("in the way")
    with pytest.raises(SandboxUnreachable, match="is it started"):
        async with embedded.embedded_sandbox(tmp_path, seconds=0.5):
            raise AssertionError("it must not get here")


async def test_an_embedded_sandbox_runs_programs(survivor: EmbeddedSandbox) -> None:
    await survivor.client.until_ready()
    assert (await survivor.client.run(Run("x", "print(1)"))).stdout == "1\n"


STARTER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sandbox import embedded
print(embedded.start(Path(sys.argv[2])).process.pid, flush=True)
sys.stdin.read()
"""


async def test_an_embedded_sandbox_ends_with_its_parent(tmp_path: Path) -> None:
    home = str(Path(embedded.__file__).parent.parent)
    pipe = asyncio.subprocess.PIPE
    starter = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STARTER, home, str(tmp_path), stdin=pipe, stdout=pipe
    )
    assert starter.stdout
    supervisor = int(await starter.stdout.readline())
    await SandboxClient(tmp_path / "sandbox.sock").until_ready()
    everyone = [supervisor, *below(supervisor)]
    assert len(everyone) >= 4  # bubblewrap, the zygote and a parked child besides
    starter.kill()
    assert await gone(everyone)
    await starter.wait()
