"""Questions that scripts make as objects of a class, or hold in lists side by side."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

WANTED = ["Which shares memory? | + a view | - a clone", "Which one copies? | - a view | + a clone"]
SCRIPT = """
function Question(text, choices, answer) {
    this.text = text;
}
// the first week
var questions = [
    new Question("Which shares memory?", ["a view", 'a clone'], "a view"),
    new Question("Which one copies?", ["a view", `a clone`], "a clone"),
];
"""
TYPED = """
export class Item {
  constructor(private prompt: string, public options: string[], readonly correctIndex: number = 0) {}
}
export const quiz: Item[] = [
  new Item('Which shares memory?', ['a view', 'a clone'], 0),
  new Item('Which one copies?', ['a view', 'a clone'], 1),
];
"""
FIELDS = """
quiz.add(new Question({ text: "Which shares memory?", options: ["a view", "a clone"], answer: 0 }));
quiz.add(new Question({ text: "Which one copies?", options: ["a view", "a clone"], answer: 1 }));
"""
PLACES = """
const first = new Question("Which shares memory?", "a view", "a clone", "a view");
const second = new Question("Which one copies?", "a view", "a clone", "a clone");
"""
UNCLEAR = """
var Question = function(Q, A, C) { this.Q = Q; this.A = A; this.C = C; }
var first = new Question("Which shares memory?", ["a view", "a clone"], 0);
var second = new Question("Which one copies?", ["a view", "a clone"], 1);
"""
PHP = """<?php
$questions[] = new Question("Which shares memory?", ['a view', "a clone"], 0);
$questions[] = new Question('Which one copies?', array('a view', 'a clone'), 1);
"""
CLASS = """
from dataclasses import dataclass

@dataclass
class Question:
    prompt: str
    options: list[str]
    answer: str = "a view"

class Quiz:
    def build(self):
        self.questions.append(Question("Which shares memory?", ["a view", "a clone"], "a view"))
        self.questions.append(Question("Which one copies?", options=("a view", "a clone"), answer="a clone"))
"""
PROMPTS = """
from question import Question

prompts = [
    "Which shares memory?\\n(a) a view\\n(b) a clone\\n\\nAnswer: ",
    "Which one copies?\\n(a)a view\\n (b) a clone\\n\\n",
]
questions = [Question(prompts[0], "a"), Question(prompts[1], "b")]
"""
ANSWERS = """
quiz = [
    Question("Which shares memory?", [Answer("a view", True), Answer("a clone", False)]),
    Question("Which one copies?", [Answer("a view", False), Answer("a clone", True)]),
]
"""


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("a.js", SCRIPT),
        ("typed.ts", TYPED),
        ("fields.js", FIELDS),
        ("places.mjs", PLACES),
        ("unclear.js", UNCLEAR),
        ("a.php", PHP),
        ("a.py", CLASS),
        ("prompts.py", PROMPTS),
        ("answers.py", ANSWERS),
    ],
)
def test_objects_that_a_script_makes_of_a_class(name: str, program: str) -> None:
    assert read_as(name, program) == WANTED
    reading = read_bank(program, name=name)
    assert reading.bank.dialects == ("program",) and reading.unaccounted() == ()


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("dialog.js", 'new Dialog("Are you sure?", ["Yes", "No"], () => {}); throw new Error("Why?", { cause: e });'),
        ("page.tsx", 'const app = new Vue({ el: "#app", title: "What is this?" }); new Chart(ctx, { type: "bar" });'),
        ("widget.js", "new Choices('#colors', ['red', 'blue'], 0); new Tabs('.tabs', ['one', 'two'], 'one');"),
        ("ask.php", "<?php $q = new Question('What is the name of ' . $what . '?'); new Error('Why?', 2);"),
        ("model.py", 'class Question(Model):\n    text = CharField("What is it?", choices=(("a", "A"), ("b", "B")))\n'),
        ("button.py", 'Button("Are you sure?", ["Yes", "No"])\nraise ValueError("Which one?", 1)\n'),
        ("unknown.py", 'made = Question(ask("Which?"), options, answers[0])\n'),
        ("deep.py", "x = " + "Q(" * 2_000 + "1" + ")" * 2_000),
        ("deep.js", "new Q(" * 2_000 + "1" + ")" * 2_000),
    ],
)
def test_objects_that_ask_nothing_are_no_questions(name: str, program: str) -> None:
    assert read_bank(program, name=name).bank.questions == ()


LISTS = """
const questions{of} = ["Which shares memory?", "Which one copies?", "Which adds?"];
const options = [["a view", "a clone"], ["a view", "a clone"], ["sum", "cat"]];
const answers = [0, 1, 0];
"""


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("lists.js", LISTS.replace("{of}", "")),
        ("lists.ts", LISTS.replace("{of}", ": string[]")),
        ("lists.html", f"<html><body><h1>Quiz</h1><script>{LISTS.replace('{of}', '')}</script></body></html>"),
        (
            "lists.php",
            "<?php" + LISTS.replace("{of}", "").replace("const ", "$").replace("[", "array(").replace("]", ")"),
        ),
    ],
)
def test_lists_side_by_side(name: str, program: str) -> None:
    assert read_as(name, program) == [*WANTED, "Which adds? | + sum | - cat"]


def test_objects_in_the_script_of_a_page() -> None:
    page = f"<html><body><h1>Quiz</h1><div id='quiz'></div><script>{SCRIPT}</script></body></html>"
    assert read_as("quiz.html", page) == WANTED


def test_a_list_that_a_variable_holds() -> None:
    program = """
let both = ["a view", "a clone"];
quiz.add(new Question("Which shares memory?", both, 0), new Question("Which one copies?", both, 1));
"""
    assert read_as("held.js", program) == WANTED
