"""Every sentence people read, as cards and forms. No service calls, no platform objects; times come with their zone."""

from __future__ import annotations

from bot.core.cards import Card, Text
from bot.core.text.questions import question_card
from bot.core.text.results import reveal_card, verdict_card
from bot.core.text.words import in_brief
from service.wire import Body, Notice, QuestionPost, RevealPost, VerdictNote


def outbox_card(body: Body) -> Card:
    """What waits in the outbox, as the card to post."""
    match body:
        case QuestionPost():
            return question_card(body)
        case RevealPost():
            return reveal_card(body)
        case VerdictNote():
            return verdict_card(body)
        case Notice():
            return Card(body.title, in_brief(f"{body.text}", 250), (Text(body.text),))


__all__ = ["outbox_card"]
