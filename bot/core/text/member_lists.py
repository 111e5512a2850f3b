"""Words of the page of members."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.core.text.admin_pages import pages as pages
from bot.core.text.words import chat_words, day_words, plural
from service.wire import MemberPage, MemberRow

CHANGES: Final = ("hide", "show", "promote", "demote")


def found_words(found: MemberPage) -> str:
    """Says how many members there are."""
    return f"{plural(found.total, 'member')}." if found.total else "No matching members."


def taken_part(row: MemberRow, now: datetime) -> str:
    """Says how much a member took part, and when they last answered."""
    last = f", last {_days_ago(row.last_at, now)}" if row.last_at else ""
    return f"{plural(row.points, 'point')} · {plural(row.answered, 'round')} answered{last}"


def _days_ago(at: datetime, now: datetime) -> str:
    days = (now.date() - at.date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{plural(days, 'day')} ago"


def joined(row: MemberRow) -> str:
    """Says since when a member is here, and in which chats."""
    chats = ", ".join(dict.fromkeys(chat_words(one.platform) for one in row.identities))
    return f"since {day_words(row.joined_at.date())}" + (f", in {chats}" if chats else "")
