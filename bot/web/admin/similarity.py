"""The page of answers that agree, which moderators open from the review queue. It is computed each time."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import similarity as text
from bot.web.admin.frame import AdminFrame
from bot.web.chat import who_of
from bot.web.security import refusals_as_pages


class SimilarityPage:
    """The route of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self.routes = (Route("/m/{member}/admin/review/similarity", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows whose answers agree, and who answers very fast."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            found = await self._frame.client.similar_answers(who)
        return self._frame.show(
            request, "similarity.html", "review", found=found, comparisons=text.comparisons(found), text=text
        )
