"""Sentences that only Discord needs: direct messages, the way to a long form, and rejected files."""

from __future__ import annotations

from bot.core import actions
from bot.core.actions import BadAction, decode
from bot.core.cards import Block, Button, Card, Form, PickField, Small, Text, TextField
from bot.core.markup import escape
from bot.core.text.members import refused_card
from bot.core.text.refusals import refusal_words
from service.wire import AdminsOnly

_ALTERNATIVES = {
    actions.Fill: "Or send a file with `/quiz answer`. Or write the code in a message, open its menu, and choose "
    "Apps → Answer with this.",
    actions.Snippet: "Or run a file with `/quiz run`.",
    actions.Import: "Or send the document as a file with `/quiz-admin bank import`.",
}


def server_only_card() -> Card:
    """Answers a command in a direct message."""
    sentence = "The quiz runs in a server: type `/quiz` in one of its channels. Here you get your private notices."
    return Card(
        "Not available here", "The quiz runs in a server: type /quiz in one of its channels.", (Text(sentence),)
    )


def stranger_card() -> Card:
    """Answers a button in a direct message about a server the member has left."""
    sentence = "You are no longer in that server, so nothing was changed."
    return Card("Not a member", sentence, (Text(sentence),))


def not_admin_card() -> Card:
    """Answers a file that only an admin can send. It is not downloaded."""
    title, sentence = refusal_words(AdminsOnly())
    return refused_card(sentence, title=title)


def form_card(form: Form, custom_id: str) -> Card:
    """Shows a form as a message, with a button that opens it: it came too late for a modal, or is too long for one."""
    blocks: list[Block] = [*form.blocks]
    for field in form.fields:
        if isinstance(field, PickField):
            blocks += [Text(label) for _, label in field.options]
    if alternative := _alternative(form):
        blocks.append(Small(alternative))
    button = Button(_label(form), custom_id, "primary")
    return Card(form.title, f"{form.title}. Press the button to open the form.", tuple(blocks), (button,), form.links)


def _label(form: Form) -> str:
    return "Write the answer" if any(isinstance(field, TextField) for field in form.fields) else "Choose"


def _alternative(form: Form) -> str:
    try:
        action = decode(form.action)
    except BadAction:
        return ""
    code = any(isinstance(field, TextField) and field.code for field in form.fields)
    return _ALTERNATIVES.get(type(action), "") if code or isinstance(action, actions.Import) else ""


def file_too_large_card(name: str, size: int, most: int) -> Card:
    """Rejects a file because of its size, bytes."""
    return _file_card(name, f"It has {size:,} bytes; the limit is {most:,}. Send a smaller file.")


def file_unavailable_card(name: str) -> Card:
    """Rejects a file that could not be downloaded."""
    return _file_card(name, "Discord did not deliver it. Send it again.")


def file_not_text_card(name: str) -> Card:
    """Rejects a file that is not UTF-8 text."""
    return _file_card(name, "It is not UTF-8 text. Save it as UTF-8 and send it again.")


def _file_card(name: str, why: str) -> Card:
    sentence = f"The file {escape(name)} was not accepted. {why}"
    return Card("File not accepted", sentence, (Text(sentence),))


def note_card(name: str) -> Card:
    """Tells a member, in public, that a private reply could not be delivered; it gives nothing away."""
    sentence = (
        f"{escape(name)}, your private reply could not be delivered: it came too late, and you do not accept direct "
        "messages here. Nothing is lost. Type `/quiz today` to see it."
    )
    return Card(
        "Reply not delivered",
        f"{name}, your private reply could not be delivered. Type /quiz today.",
        (Text(sentence),),
    )
