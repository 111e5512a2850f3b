"""A question as it would be asked and revealed, from its document alone: for its author, without a database."""

from __future__ import annotations

from pathlib import PurePath

from questions.model import Bank, Question
from service.rounds.views import build_answer_key, build_question_view
from service.store.questions import Version
from service.wire import AnswerKey, QuestionView

REF = "r1"
AUTHOR = 1


def rehearsed(question: Question, bank: Bank) -> tuple[QuestionView, AnswerKey]:
    """The question as one member would see it, and its key as the channel would."""
    place = f"{PurePath(question.place.source).name}, line {question.place.line}"
    version = Version(0, 0, 1, bank.title, bank.licence, question, place)
    return build_question_view(version, REF, AUTHOR), build_answer_key(version, REF)
