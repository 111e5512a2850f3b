"""What was read as a question and cannot be one: templates, rules of a quiz, options of two questions."""

from __future__ import annotations

from questions import read_bank

TEMPLATE = """# Test

### Pregunta 1
[Pregunta sobre un concepto]

a) [Opción A]
b) [Opción B - CORRECTA]

### Pregunta 2-10
[Continuar con preguntas similares]

### Pregunta 11
¿Qué es un tensor?

a) Un vector
b) Una matriz de n dimensiones
"""


def test_places_for_questions_in_a_template_are_no_questions() -> None:
    reading = read_bank(TEMPLATE, name="test.md")
    assert [one.prompt for one in reading.bank.questions] == ["¿Qué es un tensor?"]
    assert reading.unaccounted() == ()


def test_a_document_of_templates_has_no_questions() -> None:
    reading = read_bank(TEMPLATE.partition("### Pregunta 11")[0], name="test.md")
    assert (reading.bank.questions, reading.explanation, reading.bank.dialects) == ((), (), ())


RULES = """# Exam exercises

**Instructions:**
- Show all derivations clearly
- Implement code where specified
- Explain the reasons for all answers
- Time: 30 minutes

## Exercise 1: Regression

Derive the normal equation.

## Exercise 2: Kernels

Compute the kernel matrix.
"""


def test_rules_below_a_line_that_announces_them_are_no_questions() -> None:
    asked = [one.prompt for one in read_bank(RULES, name="exam.md").bank.questions]
    assert [one.partition("\n")[0] for one in asked] == ["Regression", "Kernels"]


def _choice(asked: str) -> str:
    return f"{asked}\nA) one\nB) two X\nC) three\nD) four\n \n"


def test_a_question_with_the_options_of_two_has_no_answer_and_a_finding() -> None:
    text = "".join(map(_choice, (*(f"What is {n}?" for n in range(1, 7)), "A plot shows:")))
    reading = read_bank(f"# Exam\n\n{text}", name="exam.md")
    *others, last = reading.bank.questions
    assert all(one.answered for one in others)
    assert (last.prompt, last.answer) == ("What is 6?", None)
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [40]


def test_an_emoji_before_the_numbers_of_headings_is_not_part_of_them() -> None:
    text = "".join(f"### **✅ {n}. What is {n}?**\n\nIt is {n}.\n\n" for n in range(1, 5))
    assert [one.prompt for one in read_bank(text, name="quiz.md").bank.questions] == [
        f"What is {n}?" for n in range(1, 5)
    ]


def test_a_list_that_continues_the_sentence_of_a_task_is_not_its_answer() -> None:
    tasks = (
        "1. What is a leaf?\n2. Train an MLP with\n   - one layer\n   - two layers\n3. What is a view?\n4. Why clone?\n"
    )
    reading = read_bank(f"# Homework\n\n{tasks}5. How do you scale?\n", name="sheet.md")
    second = reading.bank.questions[1]
    assert (second.prompt.split("\n"), second.answer) == (
        ["Train an MLP with", "", "- one layer", "- two layers"],
        None,
    )
    assert 4 in [one.span.line for one in reading.findings if one.code == "Q101"]
