"""Words of the page of settings: the value of each, what it does, and where it is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, get_args

from bot.core.markup import escape
from bot.core.text.admin_pages import GENERATED
from bot.core.text.boards import winner_name
from bot.core.text.words import and_list, chat_words, moment_markdown, plural
from service.wire import DigestView, ScheduleView, SeasonView, WinnerOf, WorkspaceSettings

REVIEWS: Final = "Reports and suggestions"
REVIEWS_MEANING: Final = (
    "Where moderators see what members write. Everyone in a channel can read it; only admins see the key."
)
DIGEST: Final = "Weekly digest"
DIGEST_MEANING: Final = "Last week in numbers for moderators, every Monday, in the same place as reports."
ELSEWHERE: Final = "Changed on other pages"
IN_CHATS: Final = "Changed in a chat"
OTHERS: Final = (
    "Reminders and private results are each member's own: `/quiz notify`. What is kept, and for how long, is up to the "
    "operator of this installation."
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that is changed elsewhere."""

    name: str
    value: str
    """Markdown."""
    meaning: str
    """Markdown."""
    path: str = ""
    """Path of the admin page that changes it; empty if a command does."""


def reviews_words(found: WorkspaceSettings) -> str:
    """Says where moderators are notified of reports. Markdown."""
    if found.review_channel:
        return f"They are shown in **#{escape(found.review_channel.removeprefix('#'))}**."
    if found.review_member:
        return f"They are sent to **{escape(found.review_member)}**, privately."
    return (
        "Nobody has chosen yet: they are sent privately to the admin who made the oldest schedule. If that is not "
        "possible, the channel is notified that one waits, without its text."
    )


def digest_words(view: DigestView) -> str:
    """Says when the next digest is sent. Markdown."""
    if view.next_at is None:
        return "No digest is sent."
    return f"The next one is sent on {moment_markdown(view.next_at, view.zone)}."


def on_pages(
    found: WorkspaceSettings, schedules: Sequence[ScheduleView], seasons: Sequence[SeasonView]
) -> tuple[Setting, ...]:
    """Returns the settings that other admin pages change."""
    running = next((one for one in seasons if one.ends_at is None), None)
    return (
        Setting(
            "Schedules",
            plural(len(schedules), "schedule") if schedules else "No schedule",
            "Time, days, time zone, topics, levels, holidays, points for speed, and how long a round stays open.",
            "/schedules",
        ),
        Setting(
            "Season",
            f"**{escape(running.name)}** is running" if running is not None else "No season is running",
            "A season has its own board, which starts at zero and is kept when it ends.",
            "/seasons",
        ),
        Setting(
            "Questions made from a document's own sentences",
            GENERATED[found.generated],
            "What imports do with sentences that explain but do not ask.",
            "/bank#generated",
        ),
        Setting(
            "Admins and hidden members",
            "Listed on the page of members",
            "On Discord and Slack, the platform says who is an admin.",
            "/members",
        ),
    )


def in_chats(found: WorkspaceSettings) -> tuple[Setting, ...]:
    """Returns the settings that only commands change."""
    chats = and_list([chat_words(one) for one in found.chats])
    linked = Setting(
        "Linked chats",
        f"{chats[:1].upper()}{chats[1:]}",
        "Chats that share one board, one bank and one history. `/quiz-admin link` links another.",
    )
    roles = (
        Setting(
            f"{winner_name(of)} gets a role",
            and_list([f"Announced in **{escape(one.channel_name)}**" for one in found.winner_roles if one.event == of])
            or "No role",
            f"`/quiz-admin {of} role` sets it, on Discord only.",
        )
        for of in get_args(WinnerOf)
    )
    return (linked, *roles)
