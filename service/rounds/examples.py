"""Computes the visible examples of code questions, which members see before they write and run anything.

They never change, so each service process computes them once, when a question is first opened.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import structlog

from questions.model import CodeTask
from sandbox.judging.challenge import NotJudgeable, run_examples
from service.rounds.grading import make_challenge
from service.rounds.sandbox_turns import FairSandbox
from service.wire import AskForm, ExampleView

log = structlog.get_logger(__name__)
WAIT_SECONDS = 1.0
"""Time that opening a question waits for its examples, seconds: a chat accepts a form for 3 seconds only."""
_MAX_TASKS = 1000
"""Number of questions whose examples are kept in memory."""


class Examples:
    """The examples of code questions, computed in the sandbox. Without one there are none."""

    def __init__(self, sandbox: FairSandbox | None, wait_seconds: float = WAIT_SECONDS) -> None:
        self._sandbox = sandbox
        self._wait_seconds = wait_seconds
        self._known: OrderedDict[CodeTask, asyncio.Task[tuple[ExampleView, ...]]] = OrderedDict()

    async def add_to(self, form: AskForm, task: CodeTask) -> AskForm:
        """Adds the examples of a code question to its form. A form never waits long for them."""
        if self._sandbox is None:
            return form
        found = await self._find(self._sandbox, task)
        return form.model_copy(update={"examples": found})

    async def close(self) -> None:
        """Cancels what is still being computed."""
        computing = [one for one in self._known.values() if not one.done()]
        for one in computing:
            one.cancel()
        await asyncio.gather(*computing, return_exceptions=True)

    async def _find(self, sandbox: FairSandbox, task: CodeTask) -> tuple[ExampleView, ...]:
        computing = self._known.get(task)
        if computing is None or (computing.done() and not _succeeded(computing)):
            # Everyone who opens the question at the same moment waits for the same run.
            computing = asyncio.create_task(_compute(sandbox, task), name="examples")
            self._known[task] = computing
        self._known.move_to_end(task)
        if len(self._known) > _MAX_TASKS:
            _, oldest = self._known.popitem(last=False)
            oldest.cancel()
        await asyncio.wait({computing}, timeout=self._wait_seconds)
        return computing.result() if computing.done() and _succeeded(computing) else ()


def _succeeded(computing: asyncio.Task[tuple[ExampleView, ...]]) -> bool:
    return not computing.cancelled() and computing.exception() is None


async def _compute(sandbox: FairSandbox, task: CodeTask) -> tuple[ExampleView, ...]:
    try:
        found = await run_examples(sandbox, make_challenge(task))
    except NotJudgeable as problem:
        log.warning("examples could not be computed", entry=task.entry, cause=str(problem))
        raise
    return tuple(ExampleView(call=one.call, result=one.result) for one in found)
