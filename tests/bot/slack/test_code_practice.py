"""Practicing code on Slack: examples first, verdicts in three blocks, retries until it passes. The real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sandbox.client import SandboxClient
from service.app import Service, build
from service.config import Settings
from tests.bot.slack.conftest import Workspace, said
from tests.conftest import Clock
from tests.doubles.slack.surfaces import View

pytestmark = pytest.mark.sandbox


@pytest.fixture
async def service(settings: Settings, clock: Clock, sandbox: SandboxClient) -> AsyncIterator[Service]:
    async with build(settings, clock, sandbox).running() as running:
        yield running


async def test_code_is_practiced_until_it_passes(workspace: Workspace) -> None:
    ann = workspace.ann
    await workspace.only("add-one")
    view = await workspace.types(ann, "/quiz practice kind:code", "Your code")
    assert isinstance(view, View) and ">>> add_one(1)\n2\n>>> add_one(2)\n3" in said(view)
    await workspace.fills(ann, {"code": "def add_one(x):\n    return x"}, "is being judged")
    before = workspace.looks(ann)
    await workspace.works()
    failed = await workspace.sees(ann, "Your code: wrong", before)
    assert "Call:" in said(failed) and "Expected:" in said(failed) and "Got:" in said(failed)
    assert "The answer" not in said(failed)

    again = await workspace.presses(ann, failed, "Try again", "Your code")
    assert isinstance(again, View)
    assert again.fields["code"].element["initial_value"] == "def add_one(x):\n    return x"
    await workspace.fills(ann, {"code": "def add_one(x):\n    return x + 1"}, "is being judged")
    before = workspace.looks(ann)
    await workspace.works()
    passed = await workspace.sees(ann, "Your code: accepted", before)
    assert "The answer:" in said(passed) and "Try again" not in passed.labels

    # The verdict goes on with what is practiced, though it came on its own.
    nothing = await workspace.presses(ann, failed, "Next card", "All done")
    assert "for code questions" in said(nothing)

    solution = await workspace.presses(ann, failed, "Show the solution", "Answer and explanation")
    assert "return x + 1" in said(solution)
