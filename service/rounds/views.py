"""Builds the views of questions and answer keys, also for previews. Callers decide who may see them and when."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from questions.facts import runnable_proof
from questions.model import Bank, Option, Question
from service.domain.selection import shuffle_options
from service.store.questions import Version
from service.store.tables import Round
from service.wire import AnswerKey, OptionKey, OptionView, QuestionView, VariantRole

MIN_OPTIONS = 3
"""Fewest options of a choice for a hint to rule one out."""
CHANNEL_ORDER = "everyone"
"""Order of a channel's post, which belongs to no member. A document often has the right option first."""


def build_question_view(
    version: Version, ref: str = "", member_id: int | None = None, *, variant: VariantRole | None = None
) -> QuestionView:
    """Returns the question without its key, with options in the member's order, or in the channel's if None."""
    question = version.question
    member = CHANNEL_ORDER if member_id is None else str(member_id)
    return QuestionView(
        id=question.id,
        version=version.number,
        kind=question.kind,
        prompt=question.prompt,
        level=question.level,
        topic=question.topic,
        program=question.program,
        options=tuple(
            OptionView(id=option.id, text=option.text) for option in _shuffled_options(question, member, ref)
        ),
        several=sum(option.right for option in question.options) > 1,
        starter=question.task.starter if question.task else "",
        entry=question.task.entry if question.task else "",
        source=version.bank,
        license=question.license or version.license,
        generated=question.generated,
        hint=has_hint(question),
        variant=variant,
    )


def channel_variant(round_: Round) -> VariantRole | None:
    """Returns what the version that a round shows in the channel is."""
    return "example" if round_.own_variants else None


def has_hint(question: Question) -> bool:
    """Returns whether the question has a hint: its author's, or for a choice with one right option a wrong option."""
    right = sum(option.right for option in question.options)
    return bool(question.hint) or (question.kind == "choice" and right == 1 and len(question.options) >= MIN_OPTIONS)


def build_answer_key(
    version: Version, ref: str = "", chosen: Mapping[str, int] | None = None, *, variant: VariantRole | None = None
) -> AnswerKey:
    """Returns the key and explanation. `chosen` holds how many members chose each option, by its id."""
    question = version.question
    return AnswerKey(
        question=build_question_view(version, ref, variant=variant),
        answer=_answer_text(question),
        why=question.why,
        proof=runnable_proof(question),
        options=_option_keys(question, ref, chosen or {}),
        key_points=question.key_points,
        quoted=bool(question.key_points) and not (question.proof or question.unproved),
        links=question.links,
        place=version.place,
    )


def _option_keys(question: Question, ref: str, chosen: Mapping[str, int]) -> tuple[OptionKey, ...]:
    return tuple(
        OptionKey(
            id=option.id, text=option.text, right=option.right, reason=option.reason, chosen_by=chosen.get(option.id, 0)
        )
        for option in _shuffled_options(question, CHANNEL_ORDER, ref)
    )


def _shuffled_options(question: Question, member: str, ref: str) -> list[Option]:
    by_id = {option.id: option for option in question.options}
    return [by_id[id_] for id_ in shuffle_options(by_id, member, ref)]


def _answer_text(question: Question) -> str:
    if question.kind == "choice":
        return "; ".join(option.text for option in question.options if option.right)
    if question.task is not None:
        return question.task.reference
    return question.answer or ""


REF = "r1"
"""Reference of the previewed question."""
AUTHOR = 1
"""Member id that the options are ordered for."""


def preview_question(question: Question, bank: Bank) -> tuple[QuestionView, AnswerKey]:
    """Returns the question as a member would see it, and its key as the channel would."""
    place = f"{PurePath(question.place.source).name}, line {question.place.line}"
    version = Version(0, 0, 1, bank.title, bank.license, question, place)
    return build_question_view(version, REF, AUTHOR), build_answer_key(version, REF)
