"""The page on which an admin of the web chat sees how the quiz runs. It shows what the service tells, and changes
nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.platforms.web.passes import Passes, Problem
from bot.platforms.web.render import page
from bot.platforms.web.store import Person
from service.client import ServiceRefused, ServiceUnavailable
from service.operations_text import clock_text, duration_text, queue_text, sandbox_text, state_text
from service.wire import Operations, Who

Look = Callable[[Who], Awaitable[Operations]]
"""Asks the service; raises as its client does."""


class OperationsPage:
    """The route. `who_is` says whom the service knows a member of the chat as."""

    def __init__(self, passes: Passes, look: Look, who_is: Callable[[Person], Who]) -> None:
        self._passes = passes
        self._look = look
        self._who_is = who_is

    async def show(self, request: Request) -> Response:
        """The page, as of now."""
        person = self._passes.person(request)
        if not person.admin:
            raise Problem(403, "For admins", "How the quiz runs is shown to its admins.")
        try:
            found = await self._look(self._who_is(person))
        except ServiceRefused as refused:
            raise Problem(403, "Not for you", refused.failure.message) from None
        except ServiceUnavailable:
            said = "The service does not answer, so nothing is known of the rest. Its log says why; see that it runs."
            raise Problem(503, "The quiz does not answer", said) from None
        return HTMLResponse(page("operations.html", base=f"/m/{person.id}", person=person, **shown(found)))


def shown(found: Operations) -> dict[str, Any]:
    """What the template takes: what the service told, and how it is put in words."""
    return {
        "found": found,
        "state": state_text,
        "lasting": duration_text,
        "sandbox": sandbox_text(found.sandbox),
        "sandbox_well": found.sandbox is not None and found.sandbox.up and not found.sandbox.trouble,
        "at": clock_text,
        "waiting": partial(queue_text, now=found.at),
        "open_troubles": [trouble for trouble in found.troubles if trouble.over_at is None],
        "past_troubles": [trouble for trouble in found.troubles if trouble.over_at is not None],
    }
