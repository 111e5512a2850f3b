"""All admin pages, for the app that serves them."""

from __future__ import annotations

from starlette.routing import Route

from bot.web.admin.frame import AdminFrame
from bot.web.admin.overview import OverviewPage


class AdminPages:
    """The routes of the admin pages."""

    def __init__(self, frame: AdminFrame) -> None:
        pages = (OverviewPage(frame),)
        self.routes: tuple[Route, ...] = tuple(route for page in pages for route in page.routes)
