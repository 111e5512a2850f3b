"""Words of the page of the audit log."""

from __future__ import annotations

from typing import Final

from bot.core.text.admin import audit_facts as audit_facts
from bot.core.text.admin import audit_time as audit_time

ACTIONS: Final = (
    ("schedule", "Schedules"),
    ("bank", "Banks"),
    ("question", "Edits of questions"),
    ("report", "Reports"),
    ("suggestion", "Suggestions"),
    ("answer", "Credits"),
    ("member", "Members"),
    ("season", "Seasons"),
    ("review", "Where reports go"),
)
"""First words of actions, and what they are called in the filter."""
