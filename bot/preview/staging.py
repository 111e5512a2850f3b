"""The moments of a question's life as cards, worded by what words them for members; the people in them are invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core.cards import Card, Form
from bot.core.wording import outbox_card
from bot.core.wording.asking import ask_said
from service.wire import AskForm, Key, OptionKey, Person, QuestionPost, QuestionView, RevealPost

REF = "r1"
_OPENS = datetime(2026, 3, 5, 8, tzinfo=UTC)
_CLOSES = datetime(2026, 3, 5, 16, tzinfo=UTC)
_NEXT = datetime(2026, 3, 6, 8, tzinfo=UTC)
_ANSWERS, _RIGHT = 5, 3


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment: its name, and what is said then."""

    name: str
    said: Card | Form
    private: bool = False


def scenes(view: QuestionView, key: Key) -> tuple[Scene, ...]:
    """The daily post, the private card or form, and the reveal with invented answers."""
    post = QuestionPost(ref=REF, question=view, day=_OPENS.date(), closes_at=_CLOSES, zone="UTC")
    ask = AskForm(ref=REF, question=view, closes_at=_CLOSES, zone="UTC")
    return (
        Scene("The post", outbox_card(post)),
        Scene("The private answer", ask_said(ask, _OPENS), private=True),
        Scene("The reveal, with invented answers", outbox_card(_reveal(key))),
    )


def _reveal(key: Key) -> RevealPost:
    ann, bob = Person(name="Ann", points=15, streak=7), Person(name="Bob", points=15, streak=1)
    chosen = key.model_copy(update={"options": _chosen(key.options)})
    return RevealPost(
        ref=REF,
        key=chosen,
        answers=_ANSWERS,
        right=_RIGHT,
        mean_credit=_RIGHT / _ANSWERS,
        first=ann,
        points=(ann, bob),
        next_at=_NEXT,
        zone="UTC",
    )


def _chosen(options: tuple[OptionKey, ...]) -> tuple[OptionKey, ...]:
    """Three chose what is right, one each the first two that are wrong."""
    wrong = [option.id for option in options if not option.right][: _ANSWERS - _RIGHT]
    counts = {option.id: _RIGHT if option.right else int(option.id in wrong) for option in options}
    return tuple(option.model_copy(update={"chosen_by": counts[option.id]}) for option in options)
