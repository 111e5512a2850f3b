"""Questions in Typst: lists with boxes, and functions that ask, answer and offer options."""

from __future__ import annotations

from questions import read_bank
from questions.formats.pages.typst import markdown_of_typst
from tests.questions.formats.readings import read_as

LISTS = """#import "quiz_template.typ": quiz
#show: quiz.with(
  title: "First week",
)
// what follows is shown

+ A view of a tensor
  - [x] shares its memory
  - [ ] copies it

+ Which call copies? // the second
  - [ ] `view`
  - [x] `clone`

+ What is $x^2$ for $x = 3$?
  - [ ] 6
  - [x] 9
"""
FUNCTIONS = """#let question(points: 1, body) = {
  [*Question?* #body]
}
= Part 1

#question(points: 3)[
  Explain how a *view* is made.
]
#answer(field: lines(2))[It has other strides for the same memory.]

#multiple-choice(
  prompt: [Which call copies?],
  distractors: ("view", "a \\"reshape\\", often"),
  answer: ("clone"),
  dir: ltr,
)
#figure(image("a.png", height: 200pt))
#question[Why is #emph[autograd] slow here?]
#solution[It keeps all steps.]
"""


def test_lists_with_boxes() -> None:
    assert read_as("quiz.typ", LISTS) == [
        "A view of a tensor | + shares its memory | - copies it",
        "Which call copies? | - `view` | + `clone`",
        "What is $x^2$ for $x = 3$? | - 6 | + 9",
    ]
    assert [one.place.line for one in read_bank(LISTS, name="quiz.typ").bank.questions] == [7, 11, 15]


def test_functions_that_ask_answer_and_offer() -> None:
    assert read_as("exam.typ", FUNCTIONS) == [
        "Explain how a **view** is made. | = It has other strides for the same memory.",
        'Which call copies? | - view | - a "reshape", often | + clone',
        "Why is autograd slow here? | = It keeps all steps.",
    ]


def test_a_template_asks_nothing() -> None:
    reading = read_bank("#let exam(title: none) = {\n  [= What is this?]\n}\n#set text(size: 9pt)\n", name="lib.typ")
    assert not reading.bank.questions


def test_lines_stay_where_they_are() -> None:
    assert markdown_of_typst("/* a\nb */\n= Title\n#let a = (\n  1,\n)\n+ one\n+ two") == (
        "\n\n# Title\n\n\n\n1. one\n2. two"
    )
