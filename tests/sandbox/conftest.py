"""Sandboxes that serve many tests: starting the zygote costs seconds, a run milliseconds."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from sandbox import embedded
from sandbox.client import SandboxClient
from tests.sandbox.attacks.worlds import KINDS, Free, World, opened
from tests.sandbox.doubles.drivers import rehearsal_device


@pytest.fixture
def sandbox(started_sandbox: embedded.EmbeddedSandbox) -> embedded.EmbeddedSandbox:
    return started_sandbox


@pytest.fixture
async def client(sandbox: embedded.EmbeddedSandbox) -> SandboxClient:
    await sandbox.client.until_ready()
    return sandbox.client


@pytest.fixture(scope="session")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.EmbeddedSandbox]:
    """A sandbox to be maltreated again and again."""
    started = embedded.start(tmp_path_factory.mktemp("survivor"))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.EmbeddedSandbox]:
    """A sandbox that goes a GPU's road on the CPU, with the stand-in for the CUDA driver where it can be built."""
    folder = tmp_path_factory.mktemp("rehearsal")
    path, log = folder / "s.sock", folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sandbox.rehearsal", str(path), json.dumps(asdict(rehearsal_device()))],
            cwd=Path(__file__).parents[2],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    started = embedded.EmbeddedSandbox(process, path, log)
    yield started
    started.stop()


@pytest.fixture
async def fresh(rehearsal: embedded.EmbeddedSandbox) -> SandboxClient:
    await rehearsal.client.until_ready()
    return rehearsal.client


@pytest.fixture(scope="session")
def worlds() -> Iterator[dict[str, World]]:
    """The sandboxes that attacks and cheats are tried on."""
    with contextlib.ExitStack() as stack:
        yield {kind: stack.enter_context(opened(kind)) for kind in KINDS}


@pytest.fixture(scope="session")
def free() -> Iterator[Free]:
    """The world without walls, for controls."""
    started = Free()
    yield started
    started.stop()
