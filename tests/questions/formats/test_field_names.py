"""Names of fields and columns, in many languages and spellings."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.formats.data.field_names import (
    ASKING,
    FLAGS,
    OPTION_TEXT,
    ROLE_OF,
    WRONG_FLAGS,
    names_questions,
    names_wrong,
    option_name,
    option_places,
    spelled,
)
from questions.formats.data.roles import role_of

ROLES = {
    "question": "question prompt pregunta frage domanda вопрос soru câu_hỏi प्रश्न سؤال 题目 질문 questionText",
    "options": "options choices opciones Antwortmöglichkeiten antwortmoeglichkeiten варианты şıklar 选项 보기",
    "wrong": "incorrectAnswers wrong_options distractors erradas falsch",
    "correct": "correctAnswer right key ok richtig réponse_correcte respuesta_correcta gabarito 正解 정답",
    "answer": "answer solution back respuesta lösung loesung ответ cevap đáp_án 答案",
    "index": "correctIndex answer_idx correct-option-index",
    "why": "explanation rationale feedback erklärung begründung Begruendung объяснение açıklama 解析 해설",
    "level": "level difficulty dificultad schwierigkeit уровень 难度",
    "topic": "topic category subject kategorie категория 分类",
    "tags": "tags keywords etiquetas schlagwörter теги",
    "id": "id uuid identifier",
}


@pytest.mark.parametrize("role", ROLES)
def test_a_field_is_known_in_many_languages_and_spellings(role: str) -> None:
    names = ROLES[role].split()
    assert {name: ROLE_OF.get(spelled(name)) for name in names} == dict.fromkeys(names, role)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("correctAnswer", "correct answer"),
        ("Opción 1", "opcion 1"),
        ("opcion_1", "opcion 1"),
        (" A-B  c ", "a b c"),
        ("answer_TEXT", "answer text"),
        ("URL", "url"),
        (7, "7"),
    ],
)
def test_names_are_compared_without_case_accents_and_separators(name: object, words: str) -> None:
    assert spelled(name) == words


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("option_a", "option"),
        ("B", "option"),
        ("3", "option"),
        ("answer", "correct"),
        ("Pregunta", "question"),
        ("x", ""),
    ],
)
def test_a_recipe_knows_the_role_of_a_field(name: str, role: str) -> None:
    assert role_of(name) == role


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("option a", ("option", 0)),
        ("choice c", ("option", 2)),
        ("option 1", ("option", 0)),
        ("option12", ("option", 11)),
        ("option 0", ("option", 0)),
        ("answer b", ("option", 1)),
        ("вариант 2", ("option", 1)),
        ("reason b", ("reason", 1)),
        ("feedback 2", ("reason", 1)),
        ("answer", None),
        ("option", None),
        ("hint a", None),
    ],
)
def test_a_name_with_a_letter_or_number_is_that_of_one_option(name: str, found: tuple[str, int] | None) -> None:
    assert option_name(name) == found


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["a", "b", "c"], {0: 0, 1: 1, 2: 2}),
        (["q", "lua chon a", "lua chon b", "lua chon c"], {1: 0, 2: 1, 3: 2}),
        (["x1", "x2", "x3"], {0: 0, 1: 1, 2: 2}),
        (["x0", "x1", "x2"], {0: 0, 1: 1, 2: 2}),
        (["x1", "x3", "x2"], {0: 0, 1: 2, 2: 1}),
        (["o1", "p1", "o2", "o3"], {0: 0, 2: 1, 3: 2}),
        (["a", "b", "c", "x1", "x2", "x3", "x4"], {3: 0, 4: 1, 5: 2, 6: 3}),  # the longest row
        (["wrong 1", "wrong 2", "wrong 3"], {0: 0, 1: 1, 2: 2}),
        (["x2", "x3", "x4"], {}),  # nothing begins at 2
        (["b", "c", "d"], {0: 0, 1: 1, 2: 2}),
        (["c", "d", "e"], {}),
        (["x1", "x2"], {}),  # too few
        (["x1", "x2", "x4"], {}),  # a gap
        (["hint 1", "hint 2", "hint 3"], {}),
        (["points 1", "points 2", "points 3"], {}),
        (["question 1", "question 2", "question 3"], {}),
        (["explanation a", "explanation b", "explanation c"], {}),
        ([], {}),
    ],
)
def test_names_that_differ_by_a_letter_or_number_are_options(names: list[str], places: dict[int, int]) -> None:
    assert option_places(names) == places


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("wrong", True),
        ("wrong answer 2", True),
        ("incorrecta", True),
        ("opcao errada 1", True),
        ("falsch", True),
        ("fausse reponse 3", True),
        ("risposta errata", True),
        ("yanlis cevap 2", True),
        ("distractor 3", True),
        ("wrong way", False),
        ("right", False),
    ],
)
def test_a_column_may_be_named_for_wrong_options(name: str, wrong: bool) -> None:
    assert names_wrong(name) is wrong


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("question text here", True),
        ("domanda specifica", True),
        ("pregunta sobre vistas", True),
        ("question", False),
        ("question type", False),
        ("question id", False),
        ("frage zu etwas ganz anderem", False),
        ("title of it", False),
    ],
)
def test_a_name_that_begins_with_a_word_for_questions_asks(name: str, asks: bool) -> None:
    assert names_questions(name) is asks


@pytest.mark.parametrize("flag", sorted(FLAGS - set(OPTION_TEXT)))
def test_each_flag_marks_the_right_option(flag: str) -> None:
    text = f'[{{"question": "Which?", "options": [{{"text": "a", "{flag}": true}}, {{"text": "b", "{flag}": false}}]}}]'
    (question,) = read_bank(text, name="a.json").bank.questions
    assert [(option.text, option.right) for option in question.options] == [("a", True), ("b", False)]


@pytest.mark.parametrize("flag", sorted(WRONG_FLAGS))
def test_an_option_by_the_name_of_a_wrong_one_is_wrong(flag: str) -> None:
    text = f'[{{"question": "Which?", "options": [{{"correct": "a"}}, {{"{flag}": "b"}}]}}]'
    (question,) = read_bank(text, name="a.json").bank.questions
    assert [(option.text, option.right) for option in question.options] == [("a", True), ("b", False)]


@pytest.mark.parametrize("name", OPTION_TEXT)
def test_each_name_holds_the_text_of_an_option(name: str) -> None:
    text = (
        f'[{{"question": "Which?", "options": [{{"{name}": "x", "n": 1}}, {{"{name}": "y", "n": 1}}], "answer": "y"}}]'
    )
    (question,) = read_bank(text, name="a.json").bank.questions
    assert [(option.text, option.right) for option in question.options] == [("x", False), ("y", True)]


def test_some_names_ask_only_where_the_rest_looks_like_a_question() -> None:
    assert {"question", "pregunta", "frage"} <= ASKING
    assert not {"text", "title", "front", "statement", "query", "q", "stem", "prompt"} & ASKING
