"""Words that announce an answer or a question in emphasis, in several languages."""

from __future__ import annotations

import pytest

from questions import read_bank

TOPICS = ("a view", "a leaf", "a hook")


@pytest.mark.parametrize(
    "label",
    [
        "Sample Answers",
        "Expected answer",
        "Réponse attendue",
        "Respuesta esperada",
        "Resposta esperada",
        "Risposta attesa",
        "Erwartete Antwort",
        "Oczekiwana odpowiedź",
        "Ожидаемый ответ",
        "Beklenen cevap",
    ],
)
def test_a_label_in_emphasis_is_no_part_of_its_answer(label: str) -> None:
    text = "".join(
        f"{n}. **Question:** What is {one}?\n\n   **{label}:** It is {n}.\n\n" for n, one in enumerate(TOPICS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]


def test_a_heading_the_answer_is_no_part_of_a_prompt() -> None:
    text = "".join(f"## What is {one}?\n\n### The Answer\n\nIt is {n}.\n\n" for n, one in enumerate(TOPICS, 1))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]


@pytest.mark.parametrize("sign", ["❓{}. ", "❔ {}) ", "❓️ {}: "])
def test_a_picture_of_a_question_mark_and_a_number_announce_a_question(sign: str) -> None:
    titles = ("Memory of a view", "Leaves and roots", "Hooks")
    answers = ("```python\nx.view(-1)\n```", "- a leaf\n- a root", "It is called with the gradient.")
    numbered = "".join(f"**{n}. Topic {n}**\n\nSome notes.\n\n" for n in (1, 2, 3))
    pairs = [*zip(titles, answers, strict=True)]
    text = numbered + "".join(
        f"**{sign.format(n)}{title}**\n\n{answer}\n\n" for n, (title, answer) in enumerate(pairs, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == pairs


OPTIONS = "A. a copy\nB. a view\nC. a leaf\n\n"


@pytest.mark.parametrize(
    "label", ["Poprawne A", "Poprawne: A", "Poprawna: A", "Prawidłowe odpowiedzi: A", "Ans:a) a copy", "Resposta:A"]
)
def test_keys_in_polish_and_right_behind_a_colon(label: str) -> None:
    text = "".join(f"Question: What does {name} give?\n{OPTIONS}{label}\n\n" for name in ("`clone`", "`copy`"))
    reading = read_bank(text, name="a.md")
    assert [[option.text for option in one.options if option.right] for one in reading.bank.questions] == [
        ["a copy"],
        ["a copy"],
    ]
    assert reading.findings == ()


@pytest.mark.parametrize(
    "label",
    [
        '<p style="color:green;"><b>Answer:<b><p> ',
        "<p><b>Answer:</b></p>",
        "<b>Answer:</b>",
        '<div class="key"><strong>Solution:</strong></div>',
    ],
)
def test_a_label_in_tags_separates_a_question_from_its_answer(label: str) -> None:
    text = "".join(
        f"## Question {n}\n\nWhat is {one}?\n\n![it](it.png)\n\n{label}\n\nIt is {n}.\n\n"
        for n, one in enumerate(TOPICS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?\n\n![it](it.png)", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]


@pytest.mark.parametrize("label", ["Good answer:", "**Best option:**", "Buena respuesta:", "Dobra odpowiedź:"])
def test_words_that_are_prose_before_a_text_are_a_label_before_a_letter(label: str) -> None:
    text = "".join(
        f"{n}. What is {one}?\n\n   a) a word\n   b) a tensor\n\n   {label} b\n\n" for n, one in enumerate(TOPICS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [[(option.text, option.right) for option in one.options] for one in questions] == [
        [("a word", False), ("a tensor", True)] for _ in TOPICS
    ]


def test_a_good_answer_in_prose_is_no_label() -> None:
    text = "".join(f"## What is {one}?\n\nIt is one.\n\nGood answer: it depends.\n\n" for one in TOPICS)
    answers = [question.answer for question in read_bank(text, name="a.md").bank.questions]
    assert answers == ["It is one.\n\nGood answer: it depends."] * len(TOPICS)


@pytest.mark.parametrize(
    ("question", "answer", "key"),
    [
        ("Fråga", "Svar", "Rätt svar"),
        ("Spørsmål", "Svar", "Riktig svar"),
        ("Kysymys", "Vastaus", "Oikea vastaus"),
        ("Otázka", "Odpověď", "Správná odpověď"),
        ("Întrebare", "Răspuns", "Răspuns corect"),
        ("Kérdés", "Válasz", "Helyes válasz"),
        ("Ερώτηση", "Απάντηση", "Σωστή απάντηση"),
        ("Въпрос", "Отговор", "Верен отговор"),
        ("Pitanje", "Odgovor", "Točan odgovor"),
        ("السؤال", "الإجابة", "الإجابة الصحيحة"),
        ("שאלה", "תשובה", "תשובה נכונה"),
        ("คำถาม", "คำตอบ", "เฉลย"),
        ("प्रश्न", "उत्तर", "सही उत्तर"),
    ],
)
def test_labels_in_further_languages(question: str, answer: str, key: str) -> None:
    text = "".join(f"{question} {n}: What is {one}?\n\n{answer}: It is {n}.\n\n" for n, one in enumerate(TOPICS, 1))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]
    options = "   a) a word\n   b) a tensor\n"
    text = "".join(f"{n}. What is {one}?\n\n{options}\n   {key}: b\n\n" for n, one in enumerate(TOPICS, 1))
    keyed = read_bank(text, name="a.md").bank.questions
    assert [[option.right for option in one.options] for one in keyed] == [[False, True]] * len(TOPICS)


def fields(first: str, second: str) -> str:
    return (
        f"@question Which call copies?\n@option view\n@option clone\n@answer {first}\n@difficulty Easy\n\n"
        f"@question: Which call joins?\n@option cat\n@option view\n@option clone\n@answer: {second}\n@end\n"
    )


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        ("b", "A", ("clone", "cat")),
        ("clone", "cat", ("clone", "cat")),
        ("2", "1", ("clone", "cat")),
        ("1", "0", ("clone", "cat")),
        # Nothing shows whether the numbers count from 0 or 1.
        ("1", "1", ("", "")),
    ],
)
def test_fields_with_a_sign_before_their_names(first: str, second: str, right: tuple[str, str]) -> None:
    questions = read_bank(fields(first, second), name="quiz.txt").bank.questions
    assert [one.prompt for one in questions] == ["Which call copies?", "Which call joins?"]
    assert [len(one.options) for one in questions] == [2, 3]
    assert tuple(" ".join(option.text for option in one.options if option.right) for one in questions) == right


def test_a_section_below_the_last_answer_is_no_part_of_it() -> None:
    cards = [(f"What is {name}?", f"It is {name}.") for name in ("a view", "a leaf", "a hook")]
    text = "# Cards\n\n" + "".join(f"**Q:** {asked}\n**A:** {said}\n\n" for asked, said in cards)
    text += "## For Anki\n\n```\n" + "".join(f"{asked};{said}\n" for asked, said in cards) + "```\n"
    questions = read_bank(text, name="cards.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == cards


def test_a_tab_may_follow_a_label() -> None:
    text = "\n\n\n".join(f"Q:\tThe view {n} shares what\n\nA:\tthe storage {n}" for n in range(1, 5))
    questions = read_bank(text, name="a.txt").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"The view {n} shares what", f"the storage {n}") for n in range(1, 5)
    ]
