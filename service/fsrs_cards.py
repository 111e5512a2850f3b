"""Practice cards by FSRS as JSON-ready dicts: a thin, deterministic wrapper on `fsrs`. It keeps no cards."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, Literal, cast

from fsrs import Card, Rating, Scheduler

CardRating = Literal["again", "hard", "good", "easy"]

_RATINGS: dict[CardRating, Rating] = {
    "again": Rating.Again,
    "hard": Rating.Hard,
    "good": Rating.Good,
    "easy": Rating.Easy,
}
# Fuzzing draws from the process's own randomness: the same reviews must always give the same dates.
_SCHEDULER = Scheduler(enable_fuzzing=False)

EASY_SECONDS = 10.0
"""A wholly right answer given this fast is rated easy."""


def new_card(now: datetime) -> dict[str, Any]:
    """A card never reviewed, due at once. `now` is aware."""
    moment = now.astimezone(UTC)
    return dict(Card(card_id=int(moment.timestamp() * 1000), due=moment).to_dict())


def review(card: dict[str, Any], rating: CardRating, now: datetime) -> tuple[dict[str, Any], datetime]:
    """The card after a review at `now` (aware) and the UTC instant it is due next; `card` itself is left alone.

    Raises ValueError for a dict that neither `new_card` nor `review` wrote.
    """
    after, _ = _SCHEDULER.review_card(_read(card), _RATINGS[rating], now.astimezone(UTC))
    return dict(after.to_dict()), after.due


def recall(card: dict[str, Any], now: datetime) -> float:
    """The chance, 0 to 1, that the card is known at `now`; 0 for one never reviewed."""
    return _SCHEDULER.get_card_retrievability(_read(card), now.astimezone(UTC))


def rating_for(credit_share: float, seconds: float | None = None) -> CardRating:
    """The rating an answer stands for: under half right `again`, under all of it `hard`, else `good` or, fast, `easy`.

    Raises ValueError for a share that is not 0 to 1.
    """
    if math.isnan(credit_share) or not 0 <= credit_share <= 1:
        raise ValueError(f"rating of a share of {credit_share}: a share lies between 0 and 1")
    if credit_share < 0.5:
        return "again"
    if credit_share < 1:
        return "hard"
    return "easy" if seconds is not None and seconds <= EASY_SECONDS else "good"


def _read(card: dict[str, Any]) -> Card:
    try:
        return Card.from_dict(cast(Any, card))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"practice card {card!r}: not written by this module ({error!r}); start it again with new_card"
        ) from None
