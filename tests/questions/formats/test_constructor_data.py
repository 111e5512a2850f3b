"""Questions in programs in Dart, Kotlin, Java, C#, Swift, Go and Ruby, and in objects of JavaScript, PHP and Python."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import messages, read_as

WANTED = ["Which shares memory? | + a view | - a clone", "Which one copies? | - a view | + a clone"]

DART = """
import '../models/question.dart';

class QuestionData {
  // the first week
  static List<Question> all() => [
    Question(
      question: "Which shares memory?",
      options: const ["a view", 'a clone'],
      correctAnswer: 0,
      level: Level.easy,
      icon: Icons.memory,
    ),
    Question(question: "Which one " "copies?", options: ["a view", "a clone"], correctAnswer: 1),
  ];
}
"""
KOTLIN = """
data class Question(val id: Int, val text: String, val options: List<String>, val answer: Int)

object Quiz {
    val first = Question(1, "Which shares memory?", listOf("a view", "a clone"), 0)
    val second = Question(2, "Which one copies?", listOf("a view", "a clone"), 1)
}
"""
JAVA = """
package quiz;
import java.util.*;
/* the first week */
public class Quiz {
    private final List<Question> questions = new ArrayList<>();
    public Quiz(String name) {
        questions.add(new Question("Which shares memory?", new String[]{"a view", "a clone"}, "a view"));
        questions.add(new Question("Which one copies?", new String[] {"a view", "a clone"}, "a clone"));
    }
    public void ask() { System.out.println("Which one?"); }
}
"""
SHARP = """
public static class Seed
{
    public static List<Question> All() { return new List<Question>
    {
        new Question { Text = "Which shares memory?", OptionA = "a view", OptionB = "a clone", CorrectAnswer = 'A' },
        new Question { Text = "Which one copies?", OptionA = "a view", OptionB = @"a clone", CorrectAnswer = 'B', },
    }; }
}
"""
SWIFT = """
let quiz = [
    Question(text: "Which shares memory?", answers: ["a view", "a clone"], correctIndex: 0),
    Question(text: "Which one copies?", answers: ["a view", "a clone"], correctIndex: 1)
]
"""
GO = """
package main

var quiz = []Question{
	{Prompt: "Which shares memory?", Options: []string{"a view", "a clone"}, Answer: "a view"},
	{Prompt: `Which one copies?`, Options: []string{"a view", "a clone"}, Answer: "a clone"},
}
"""
RUBY = """
# the first week
QUIZ = [
  { question: "Which shares memory?", options: ["a view", "a clone"], answer: "a view" },
  { 'question' => "Which one copies?", 'options' => ['a view', 'a clone'], 'answer' => 'a clone' }
]
"""
MARKED = """
var quiz = [
  Question("Which shares memory?", [Answer("a view", true), Answer("a clone", false)]),
  Question("Which one copies?", [Answer("a view", false), Answer("a clone", true)]),
];
"""


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("a.dart", DART),
        ("a.kt", KOTLIN),
        ("a.java", JAVA),
        ("a.cs", SHARP),
        ("a.swift", SWIFT),
        ("a.go", GO),
        ("a.rb", RUBY),
        ("marked.dart", MARKED),
    ],
)
def test_records_that_a_program_makes(name: str, program: str) -> None:
    assert read_as(name, program) == WANTED
    reading = read_bank(program, name=name)
    assert reading.bank.dialects == ("program",) and reading.unaccounted() == ()


def test_columns_that_variables_hold() -> None:
    program = """
public class Quiz {
    static String[] questions = {"Which shares memory?", "Which one copies?", "Which adds?"};
    static String[][] options = {{"a view", "a clone"}, {"a view", "a clone"}, {"sum", "cat"}};
    static char[] answers = {'A', 'B', 'A'};
}
"""
    assert read_as("Quiz.java", program) == [*WANTED, "Which adds? | + sum | - cat"]


def test_statements_that_are_true_or_false() -> None:
    program = """
struct Question { let text: String; let answer: Bool }
let quiz = [Question("A view shares memory.", true), Question("Is a clone a view?", false)]
"""
    assert read_as("quiz.swift", program)[1] == "Is a clone a view? | - True | + False"


def test_what_only_the_program_knows_is_left_out() -> None:
    program = """
var quiz = [
  Question(question: "Which shares memory?", options: ["a view", other], answer: "a view"),
  Question(question: "How many are $count views?", options: ["2", "3"], answer: "3"),
  Question(question: "Which one copies?", options: ["a view", "a clone"].shuffled(), answer: "a clone"),
  Question(question: "Which adds?", options: ["sum", "cat"], answer: "sum"),
];
"""
    assert read_as("quiz.dart", program) == [
        "Which shares memory? | = a view",
        "Which one copies? | = a clone",
        "Which adds? | + sum | - cat",
    ]


@pytest.mark.parametrize(
    ("name", "program"),
    [
        (
            "home.dart",
            "class Home { Widget build() => MaterialApp(title: 'Which one?', home: Text('What is this?')); }",
        ),
        ("Main.java", 'class Main { void ask() { // Q1. What is a view?\\n String question = "Why?"; } }'),
        (
            "page.go",
            'func page() { w.Header().Set("Content-Security-Policy", fmt.Sprintf("default \'%s\'", hash))\n'
            'mux.GET(path.Join(prefix, "/categories"), serve(config, colors)) }',
        ),
        ("question.kt", "data class Question(val text: String, val options: List<String>, val answer: Int)"),
    ],
)
def test_a_program_without_questions_is_refused_by_its_language(name: str, program: str) -> None:
    reading = read_bank(program, name=name)
    assert not reading.bank.questions and reading.has_errors
    assert any("has no list of questions that can be read" in one for one in messages(reading))


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
