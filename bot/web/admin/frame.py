"""What the admin pages share: who may open them, their navigation, and what a form leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.core.text.admin_pages import KEPT_WHILE_DOWN, Done, done_words
from bot.core.text.refusals import refusal_words
from bot.core.text.web_problems import NOT_ADMIN
from bot.web.chat import who_of
from bot.web.frame import Navigation
from bot.web.render import page
from bot.web.security import MemberCookies, RequestProblem, event_id
from bot.web.store import ChatStore
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import WebPerson, Who

Section = Literal[
    "overview",
    "review",
    "schedules",
    "bank",
    "statistics",
    "seasons",
    "sprints",
    "tournaments",
    "members",
    "audit",
    "settings",
]
SECTIONS: tuple[tuple[Section, str], ...] = (
    ("overview", "Overview"),
    ("review", "Review"),
    ("schedules", "Schedules"),
    ("bank", "Questions"),
    ("statistics", "Statistics"),
    ("seasons", "Seasons"),
    ("sprints", "Sprints"),
    ("tournaments", "Tournaments"),
    ("members", "Members"),
    ("audit", "Audit"),
    ("settings", "Settings"),
)
LONGEST_NUMBER = 18


@dataclass(frozen=True, slots=True)
class AdminFrame:
    """The frame of the admin pages."""

    cookies: MemberCookies
    client: ServiceClient
    navigation: Navigation
    clock: Clock
    store: ChatStore

    def admin(self, request: Request) -> WebPerson:
        """Returns the admin who asks. Raises RequestProblem for anyone else."""
        person = self.cookies.person(request)
        if not person.admin:
            raise RequestProblem(403, *NOT_ADMIN)
        return person

    async def posted(self, request: Request, files: int = 0) -> tuple[Who, FormData, str]:
        """Returns who posted a form, its fields and the event's id. Nothing is parsed for anybody but admins."""
        person = self.admin(request)
        fields = await self.cookies.fields(request, person.id, files)
        return who_of(person), fields, event_id(request, person.id, fields)

    def show(
        self, request: Request, template: str, section: Section, status: int = 200, **variables: Any
    ) -> HTMLResponse:
        """Renders a page of a section, with what was just done at its top."""
        person = self.admin(request)
        html = page(
            f"admin/{template}",
            **self.navigation.variables(person, "admin"),
            sections=SECTIONS,
            section=section,
            token=self.cookies.token(person.id),
            done=done_words(request.query_params.get("done", "")),
            **variables,
        )
        return HTMLResponse(html, status)

    def after(self, request: Request, path: str, done: Done) -> Response:
        """Leads to a page that says what was done, so that loading it again repeats nothing."""
        where, _, fragment = path.partition("#")
        mark = "&" if "?" in where else "?"
        target = f"/m/{request.path_params['member']}/admin{where}{mark}done={done}"
        return RedirectResponse(f"{target}#{fragment}" if fragment else target, 303)


def problem_words(error: ServiceRefused | ServiceUnavailable) -> str:
    """Says beside a form why it was refused, so that what was typed stays. Markdown."""
    return refusal_words(error.refusal)[1] if isinstance(error, ServiceRefused) else KEPT_WHILE_DOWN


def number_of(text: str) -> int:
    """Returns a number from a path or a field; 0, which is never an id, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else 0
