"""The sandbox that tests share, as a plugin of pytest: `make test-gpu-lean` loads it without the fixtures above it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import embedded


@pytest.fixture(scope="session")
def started_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.EmbeddedSandbox]:
    """One sandbox for all tests. Each child serves one run and then ends, so tests do not affect one another."""
    started = embedded.start(tmp_path_factory.mktemp("sandbox"))
    yield started
    started.stop()
