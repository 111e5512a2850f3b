"""One sandbox for the whole folder: starting the zygote costs seconds, a run milliseconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from sandbox import embedded
from sandbox.client import SandboxClient
from tests.sandbox.attacks.worlds import KINDS, Free, World, opened


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Sandbox]:
    started = embedded.start(tmp_path_factory.mktemp("sandbox"))
    yield started
    started.stop()


@pytest.fixture
async def client(sandbox: embedded.Sandbox) -> SandboxClient:
    await sandbox.client.until_ready()
    return sandbox.client


@pytest.fixture(scope="session")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Sandbox]:
    """A sandbox to be maltreated again and again."""
    started = embedded.start(tmp_path_factory.mktemp("survivor"))
    yield started
    started.stop()


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
