"""The page of settings: changes where moderators are notified and the digest, and says where the other settings are."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import settings_page as text
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame
from bot.web.chat import WHERE, who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of

PATH = "/m/{member}/admin/settings"


class SettingsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows every setting with its value."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            found, digest, schedules, seasons = await asyncio.gather(
                self._client.settings(who),
                self._client.digest(who),
                self._client.schedule_list(who),
                self._client.season_list(who),
            )
        return self._frame.show(
            request,
            "settings.html",
            "settings",
            found=found,
            digest=digest,
            lists=((text.ELSEWHERE, text.on_pages(found, schedules, seasons)), (text.IN_CHATS, text.in_chats(found))),
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Changes one setting."""
        who, fields, event = await self._frame.posted(request)
        with refusals_as_pages():
            match text_of(fields, "action"):
                case "here":
                    await self._client.review_here(who, event, WHERE)
                    return self._frame.after(request, "/settings", "reviews here")
                case "me":
                    await self._client.review_me(who, event)
                    return self._frame.after(request, "/settings", "reviews to me")
                case "digest-on":
                    await self._client.digest_switch(who, event, True)
                    return self._frame.after(request, "/settings", "digest on")
                case "digest-off":
                    await self._client.digest_switch(who, event, False)
                    return self._frame.after(request, "/settings", "digest off")
        raise RequestProblem(422, *NO_SUCH_BUTTON)
