"""The questions of a workspace as its admins browse them. The key of a question that is being asked stays secret."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.banks import item_statistics
from service.banks.moderation import find_named
from service.rounds.views import build_answer_key, build_question_view
from service.store import bank_browser
from service.store.members import Caller
from service.store.questions import get_version, is_secret
from service.wire import BankPage, QuestionDetails, QuestionFilter

PAGE = 25
"""Questions on a page."""


async def search(session: AsyncSession, caller: Caller, wanted: QuestionFilter) -> BankPage:
    """Returns a page of the questions that the filter finds."""
    found, total = await bank_browser.search(session, caller.workspace_id, wanted, PAGE)
    return BankPage(questions=tuple(found), total=total, page=wanted.page, size=PAGE)


async def view(session: AsyncSession, caller: Caller, question: str, now: datetime) -> QuestionDetails:
    """Returns all about one question. Without key and figures while the workspace or a duel of the caller asks it."""
    row, current = (await find_named(session, caller, question))[0]
    version = await get_version(session, current.id)
    secret = await is_secret(session, caller, row.id)
    figures = None if secret else await item_statistics.sum_item(session, caller.workspace_id, row.id, row.key, now)
    return QuestionDetails(
        listed=await bank_browser.get_listed(session, caller.workspace_id, row.id),
        question=build_question_view(version),
        key=None if secret else build_answer_key(version),
        versions=await bank_browser.list_versions(session, caller.workspace_id, row.id),
        statistics=figures,
        reports=await bank_browser.count_open_reports(session, caller.workspace_id, row.id),
    )
