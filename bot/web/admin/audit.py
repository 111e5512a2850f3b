"""The page of the audit log: what admins did, by kind of action and by name, page by page."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import admin_pages as text
from bot.web.admin.frame import AdminFrame, number_of
from bot.web.chat import who_of
from bot.web.security import cleaned, refusals_as_pages

PAGE = 50
"""Actions on a page."""


class AuditPage:
    """The route of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self.routes = (Route("/m/{member}/admin/audit", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the actions that the query asks for."""
        who, query = who_of(self._frame.admin(request)), request.query_params
        action = query.get("action", "")
        action = action if action in dict(text.ACTIONS) else ""
        by, before = cleaned(query.get("by", ""))[:80].strip(), number_of(query.get("before", ""))
        with refusals_as_pages():
            # One more than is shown, which tells whether there is a next page.
            found = await self._frame.client.audit(who, PAGE + 1, before or None, action, by)
        shown = found[:PAGE]
        chosen = {name: value for name, value in (("action", action), ("by", by)) if value}
        older = f"?{urlencode({**chosen, 'before': shown[-1].id})}" if len(found) > PAGE else ""
        return self._frame.show(
            request,
            "audit.html",
            "audit",
            rows=shown,
            action=action,
            by=by,
            older=older,
            newest=f"?{urlencode(chosen)}" if before else "",
            text=text,
        )
