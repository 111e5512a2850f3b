"""What only Discord has to say: where the quiz lives, the way to a form, a file that cannot be read. Cards, as data."""

from __future__ import annotations

from bot.core import actions
from bot.core.actions import BadAction, decode
from bot.core.cards import Block, Button, Card, Form, PickField, Small, Text, TextField
from bot.core.markup import escape
from bot.platforms.discord.custom_ids import opening

_WAYS = {
    actions.Fill: "Or hand in a file: `/quiz answer` takes one. Or write the code in a message, point at it, and "
    "choose Apps → Answer with this.",
    actions.Snippet: "Or run a file: `/quiz run` takes one.",
    actions.Import: "Or hand in the document as a file: `/quiz-admin bank import` takes one.",
}


def home_card() -> Card:
    """A command in a direct message."""
    said = "The quiz lives in a server: type `/quiz` in one of its channels. Here you get what is for you alone."
    return Card("Not here", "The quiz lives in a server: type /quiz in one of its channels.", (Text(said),))


def stranger_card() -> Card:
    """A button in a direct message, of a server the member has left."""
    said = "You are not in that server any more, so nothing was done."
    return Card("Not any more", said, (Text(said),))


def form_card(form: Form) -> Card:
    """A form as a message with the way to it: it came too late for a window, or its question is longer than one."""
    blocks: list[Block] = [*form.blocks]
    for field in form.fields:
        if isinstance(field, PickField):
            blocks += [Text(label) for _, label in field.options]
    if way := _way(form):
        blocks.append(Small(way))
    button = Button(_label(form), opening(form.action), "primary")
    return Card(
        form.title, f"{form.title}. A button opens the window to fill in.", tuple(blocks), (button,), form.links
    )


def _label(form: Form) -> str:
    return "Write the answer" if any(isinstance(field, TextField) for field in form.fields) else "Choose"


def _way(form: Form) -> str:
    try:
        action = decode(form.action)
    except BadAction:
        return ""
    code = any(isinstance(field, TextField) and field.code for field in form.fields)
    return _WAYS.get(type(action), "") if code or isinstance(action, actions.Import) else ""


def file_card(name: str, why: str) -> Card:
    """A file that cannot be taken; `why` is a sentence of ours."""
    said = f"The file {escape(name)} could not be taken. {why}"
    return Card("That did not work", said, (Text(said),))


def note_card(name: str) -> Card:
    """For all to read, so it says nothing of what was asked: a private reply found no way."""
    said = (
        f"{escape(name)}, a private reply to you came too late for Discord and you take no direct messages here. "
        "Nothing you did is lost: type `/quiz today` to see where you stand."
    )
    return Card(
        "A reply waits", f"{name}, a private reply to you could not be delivered. Type /quiz today.", (Text(said),)
    )
