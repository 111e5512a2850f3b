"""Cards about the private messages that members opt in to."""

from __future__ import annotations

from bot.core.actions import Notifications, SetNotification, encode
from bot.core.cards import Block, Button, Card, Small, Text
from bot.core.markup import escape
from bot.core.text.questions import about, opening
from bot.core.text.words import chat_words, in_brief, plural, stopped, until_markdown
from service.wire import NotificationView, ReminderNote

_KINDS = (
    (
        "reminders",
        "Reminders",
        "one message before a round closes, if you have not answered and it would break your streak",
    ),
    ("results", "Results", "your own result when a round closes"),
)


def notifications_card(view: NotificationView) -> Card:
    """Shows a member's settings, with a button to change each."""
    on = {"reminders": view.reminders, "results": view.results}
    lines = [f"- **{name} {'on' if on[kind] else 'off'}:** {what}." for kind, name, what in _KINDS]
    where = f"They come as private messages on {chat_words(view.platform)}; change a setting elsewhere to move them."
    if view.platform == "web":
        where = "On the web your result is shown without a message. Only you see reminders, in the quiz channel."
    blocks: list[Block] = [Text("\n".join(lines)), Small(where)]
    if view.refused:
        said = f"The latest message was refused: {stopped(escape(view.refused))} Nobody else is told."
        blocks.insert(1, Text(f"**Not delivered.** {said}"))
    buttons = tuple(
        Button(
            f"{name}: turn {'off' if on[kind] else 'on'}", encode(SetNotification(kind, "off" if on[kind] else "on"))
        )
        for kind, name, _ in _KINDS
    )
    summary = ", ".join(f"{name.lower()} {'on' if on[kind] else 'off'}" for kind, name, _ in _KINDS)
    return Card("Your notifications", f"Your notifications: {summary}.", tuple(blocks), buttons)


def reminder_card(note: ReminderNote) -> Card:
    """Reminds a member of a round that closes soon."""
    until = until_markdown(note.closes_at, note.zone, None)
    said = f"Your streak of {plural(note.streak, 'round')} ends if you do not answer by {until}."
    return Card(
        title="Your streak is at risk",
        summary=in_brief(said, 200),
        blocks=(
            Text(f"{said} The question: {escape(in_brief(note.question.prompt, 200))}"),
            Small(about(note.question)),
            Small("You asked for reminders. Turn them off with `/quiz notify reminders off`."),
        ),
        buttons=(
            Button("Answer", encode(opening(note.ref, note.question)), "primary"),
            Button("Notifications", encode(Notifications())),
        ),
    )
