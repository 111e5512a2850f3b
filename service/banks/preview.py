"""Preview of a question for its author, from its document alone, without a database."""

from __future__ import annotations

from pathlib import PurePath

from questions.model import Bank, Question
from service.rounds.views import build_answer_key, build_question_view
from service.store.questions import Version
from service.wire import AnswerKey, QuestionView

REF = "r1"
"""Reference of the previewed question."""
AUTHOR = 1
"""Member id that the options are ordered for."""


def preview_question(question: Question, bank: Bank) -> tuple[QuestionView, AnswerKey]:
    """Returns the question as a member would see it, and its key as the channel would."""
    place = f"{PurePath(question.place.source).name}, line {question.place.line}"
    version = Version(0, 0, 1, bank.title, bank.license, question, place)
    return build_question_view(version, REF, AUTHOR), build_answer_key(version, REF)
