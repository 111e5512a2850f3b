"""The cards that the documentation shows; the awkward ones are in `samples`."""

from __future__ import annotations

from datetime import UTC, date, datetime

from bot.core.cards import Card
from bot.core.text import boards, outbox_card, questions
from service.wire import (
    AnswerInput,
    AnswerKey,
    AskForm,
    Board,
    BoardRow,
    OptionKey,
    OptionView,
    PersonView,
    QuestionPost,
    QuestionView,
    RevealPost,
)

_OPENS = datetime(2026, 3, 5, 8, tzinfo=UTC)
_CLOSES = datetime(2026, 3, 5, 16, tzinfo=UTC)
_ZONE = "Europe/Berlin"
_WHY = "A transposed tensor is not contiguous, and a view needs strides that visit its elements in order."

_QUESTION = QuestionView(
    id="view-of-a-transpose",
    version=1,
    kind="choice",
    prompt="What does the last line do?",
    program="import torch\n\nx = torch.ones(2, 3)\nx.t().view(-1)",
    level="mid",
    topic="tensors",
    options=(
        OptionView(id="raises", text="It raises a `RuntimeError`."),
        OptionView(id="flat", text="It returns a view of shape `(6,)`."),
        OptionView(id="copy", text="It copies, and returns shape `(6,)`."),
    ),
    source="pytorch-core",
    license="MIT",
)
_KEY = AnswerKey(
    question=_QUESTION,
    answer="It raises a `RuntimeError`.",
    why=_WHY,
    options=(
        OptionKey(id="raises", text="It raises a `RuntimeError`.", right=True, chosen_by=7),
        OptionKey(id="flat", text="It returns a view of shape `(6,)`.", right=False, chosen_by=3,
                  reason="No single stride visits the six elements in order."),
        OptionKey(id="copy", text="It copies, and returns shape `(6,)`.", right=False, chosen_by=2,
                  reason="`reshape` would; `view` never copies."),
    ),
)  # fmt: skip
_NAMES = ("Ada", "Grace", "Alan", "Katherine", "Zoë", "יעל", "Nia")

QUESTION: Card = outbox_card(
    QuestionPost(ref="r1", question=_QUESTION, day=date(2026, 3, 5), closes_at=_CLOSES, zone=_ZONE)
)
_ASKED = questions.private_question(
    AskForm(ref="r1", question=_QUESTION, closes_at=_CLOSES, zone=_ZONE, given=AnswerInput(options=("raises",))), _OPENS
)
assert isinstance(_ASKED, Card)
ANSWER: Card = _ASKED
REVEAL: Card = outbox_card(
    RevealPost(
        ref="r1",
        day=date(2026, 3, 5),
        key=_KEY,
        answers=12,
        right=7,
        mean_credit=7 / 12,
        first=PersonView(name="Grace", points=10, streak=9),
        points=(PersonView(name="Grace", points=10, streak=9), PersonView(name="Ada", points=10, streak=4)),
        zone=_ZONE,
    )
)
BOARD: Card = boards.board_card(
    Board(
        title="This week in #daily",
        period="week",
        scope="channel",
        rows=tuple(
            BoardRow(rank=place, name=name, points=95 - 11 * place, answered=5, accuracy=1 - place / 14,
                     streak=12 - place, me=name == "Alan")
            for place, name in enumerate(_NAMES, start=1)
        ),
        total=len(_NAMES),
    )
)  # fmt: skip
