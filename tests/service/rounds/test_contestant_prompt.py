"""What a model is asked, and which replies are answers."""

from __future__ import annotations

import json

import pytest

from service.rounds.contestant import build_messages, parse_reply
from service.rounds.views import build_question_view
from service.store.questions import Version
from service.wire import AnswerInput, QuestionView
from tests.service.daily_channel import choice, code, prose, value


def shown(question: object) -> QuestionView:
    return build_question_view(Version(1, 1, 1, "Bank", "", question))  # type: ignore[arg-type]


CHOICE = shown(choice())
RIGHT = next(number for number, option in enumerate(CHOICE.options, 1) if option.id == "a")


@pytest.mark.parametrize("question", [choice(), value(), prose(), code()])
def test_the_key_is_not_sent(question: object) -> None:
    sent = json.dumps(build_messages(shown(question)))
    assert shown(question).prompt in sent
    for secret in ("another look", "`clone` copies", "holds its own", "storage", "no `copy`", "return 2 * x", "cases"):
        assert secret not in sent
    assert "(2, 3)" not in build_messages(shown(choice()))[1]["content"]


def test_options_are_numbered_as_they_are_read() -> None:
    text = build_messages(CHOICE)[1]["content"]
    for number, option in enumerate(CHOICE.options, 1):
        assert f"{number}. {option.text}" in text
    assert parse_reply(CHOICE, f'{{"answer": [{RIGHT}]}}') == AnswerInput(options=("a",))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "2",
        "[1]",
        "The answer is 1.",
        '{"answer": 1}',
        '{"answer": "1"}',
        '{"answer": ["1"]}',
        '{"answer": [1.0]}',
        '{"answer": [true]}',
        '{"answer": []}',
        '{"answer": [0]}',
        '{"answer": [4]}',
        '{"answer": [1, 1]}',
        '{"answer": [1, 2]}',
        '{"answer": [1], "why": "because"}',
        '{"answer": [1]} I am sure.',
        'Sure!\n```json\n{"answer": [1]}\n```',
        '{"answer": null}',
        "{" * 10_000,
    ],
)
def test_what_is_no_answer_to_a_choice(reply: str) -> None:
    assert parse_reply(CHOICE, reply) is None


def test_one_fence_around_the_whole_is_allowed() -> None:
    assert parse_reply(CHOICE, f'\n```json\n{{"answer": [{RIGHT}]}}\n```\n') == AnswerInput(options=("a",))


def test_several_options_where_several_may_be_right() -> None:
    several = CHOICE.model_copy(update={"several": True})
    found = parse_reply(several, '{"answer": [3, 1]}')
    assert found == AnswerInput(options=(several.options[2].id, several.options[0].id))


@pytest.mark.parametrize("question", [shown(value()), shown(prose())])
def test_a_text(question: QuestionView) -> None:
    assert parse_reply(question, '{"answer": "(2, 3)"}') == AnswerInput(text="(2, 3)")
    for reply in ('{"answer": ""}', '{"answer": " "}', '{"answer": [1]}', '{"answer": "a\\u0000b"}', "(2, 3)"):
        assert parse_reply(question, reply) is None
    assert parse_reply(question, json.dumps({"answer": "x" * 4001})) is None


def test_code_is_a_program() -> None:
    program = "def double(x):\n    return 2 * x\n"
    assert parse_reply(shown(code()), json.dumps({"answer": program})) == AnswerInput(code=program)
    assert parse_reply(shown(code()), json.dumps({"answer": "x" * 100_001})) is None
