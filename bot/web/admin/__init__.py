"""The pages of the web chat for those who run the quiz. The service checks the role of every call."""

from __future__ import annotations

from starlette.routing import Route

from bot.web.admin.audit import AuditPage
from bot.web.admin.bank import BankPages
from bot.web.admin.frame import AdminFrame
from bot.web.admin.members import MembersPage
from bot.web.admin.overview import OverviewPage
from bot.web.admin.review import ReviewPages
from bot.web.admin.schedules import SchedulePages
from bot.web.admin.seasons import SeasonsPage
from bot.web.admin.settings import SettingsPage
from bot.web.admin.sprints import SprintsPage
from bot.web.admin.tournaments import TournamentsPage


class AdminPages:
    """The routes of the admin pages."""

    def __init__(self, frame: AdminFrame) -> None:
        pages = (
            OverviewPage(frame),
            ReviewPages(frame),
            SchedulePages(frame),
            BankPages(frame),
            SeasonsPage(frame),
            SprintsPage(frame),
            TournamentsPage(frame),
            MembersPage(frame),
            AuditPage(frame),
            SettingsPage(frame),
        )
        self.routes: tuple[Route, ...] = tuple(route for page in pages for route in page.routes)
