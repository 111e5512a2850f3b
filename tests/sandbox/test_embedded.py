"""The sandbox as the front door starts and stops it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox import embedded
from sandbox.client import SandboxUnreachable
from sandbox.embedded import Sandbox
from sandbox.wire import Run
from tests.sandbox.processes import below, environment, gone

pytestmark = pytest.mark.sandbox


async def test_it_knows_nothing_of_the_environment_it_was_started_from(
    sandbox: Sandbox, survivor: Sandbox, tmp_path: Path
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


async def test_one_that_cannot_start_is_told_apart_from_one_that_is_slow(tmp_path: Path) -> None:
    (tmp_path / "sandbox.sock").write_text("in the way")
    with pytest.raises(SandboxUnreachable, match="is it started"):
        async with embedded.embedded_sandbox(tmp_path, seconds=0.5):
            raise AssertionError("it must not get here")


async def test_it_runs_what_it_is_given(survivor: Sandbox) -> None:
    await survivor.client.until_ready()
    assert (await survivor.client.run(Run("x", "print(1)"))).stdout == "1\n"
