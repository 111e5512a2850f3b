"""The page of members: who takes part, who is an admin here, and who is hidden from the boards."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import member_lists as text
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, number_of
from bot.web.chat import who_of
from bot.web.security import RequestProblem, cleaned, refusals_as_pages, text_of
from service.wire import MemberRow

PATH = "/m/{member}/admin/members"


class MembersPage:
    """The routes of the page. The chat keeps who is an admin in it; the service records each change."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the members that the query asks for."""
        who, query = who_of(self._frame.admin(request)), request.query_params
        wanted, page = cleaned(query.get("text", ""))[:80].strip(), number_of(query.get("page", ""))
        one = number_of(query.get("id", ""))
        with refusals_as_pages():
            found = await self._client.members(who, wanted, min(max(page, 1), 10_000), one or None)
        people = await self._frame.store.people(*filter(None, map(_web_id, found.members)))
        rows = [(row, people.get(_web_id(row))) for row in found.members]
        return self._frame.show(
            request,
            "members.html",
            "members",
            found=found,
            rows=rows,
            wanted=wanted,
            narrowed=bool(wanted or one),
            reader=who.member,
            pages=text.pages(found),
            now=self._frame.clock(),
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Hides or shows a member, or changes who is an admin."""
        who, fields, event = await self._frame.posted(request)
        action, member = text_of(fields, "action"), text_of(fields, "id")[:200]
        if not member or action not in text.CHANGES:
            raise RequestProblem(422, *NO_SUCH_BUTTON)
        with refusals_as_pages():
            if action in ("hide", "show"):
                await self._client.member_hide(who, event, member, action == "hide")
                return self._frame.after(request, "/members", "hidden" if action == "hide" else "unhidden")
            await self._client.member_role(who, event, member, action == "promote")
        return self._frame.after(request, "/members", "promoted" if action == "promote" else "demoted")


def _web_id(row: MemberRow) -> str:
    """Returns the id by which the web chat knows a member; empty for a member of other chats only."""
    return next((one.member for one in row.identities if one.platform == "web"), "")
