"""Words everything that people read, as cards and forms. No service calls and no platform objects; times name their
zone."""

from __future__ import annotations

from typing import assert_never

from bot.core.cards import Card
from bot.core.text.boards import winner_card
from bot.core.text.duels import duel_post_card
from bot.core.text.members import reminder_card
from bot.core.text.notices import notice_card
from bot.core.text.questions import question_card
from bot.core.text.results import verdict_card
from bot.core.text.reveals import outcome_card, result_card, reveal_card, round_name, update_card
from bot.core.text.sprints import sprint_card
from bot.core.text.tournaments import tournament_post_card
from service.wire import (
    Body,
    DuelPost,
    Notice,
    OutcomePost,
    PostUpdate,
    QuestionPost,
    ReminderNote,
    RevealPost,
    RoundResult,
    SprintAnnouncement,
    SprintPodium,
    SprintQuestionPost,
    SprintReveal,
    TournamentPost,
    VerdictNote,
    WinnerPost,
)


def outbox_card(body: Body) -> Card:
    """Returns the card of an outbox message."""
    match body:
        case QuestionPost():
            return question_card(body)
        case PostUpdate():
            return update_card(body)
        case RevealPost():
            return reveal_card(body)
        case OutcomePost():
            return outcome_card(body)
        case RoundResult():
            return result_card(body)
        case ReminderNote():
            return reminder_card(body)
        case VerdictNote():
            return verdict_card(body)
        case DuelPost():
            return duel_post_card(body)
        case TournamentPost():
            return tournament_post_card(body)
        case Notice():
            return notice_card(body)
        case WinnerPost():
            return winner_card(body)
        case SprintAnnouncement() | SprintQuestionPost() | SprintReveal() | SprintPodium():
            return sprint_card(body)
        case _ as never:
            assert_never(never)


def thread_name(body: Body) -> str:
    """Returns the name of the thread that an outbox message starts; empty if it starts none."""
    return round_name(body) if isinstance(body, RevealPost | OutcomePost) else ""


__all__ = ["outbox_card", "thread_name"]
