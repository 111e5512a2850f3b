"""Questions in programs in Dart, Kotlin, Java, C#, Swift, Go and Ruby."""

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


def test_lists_behind_a_type_or_a_colon_alone() -> None:
    swift = """
let questions: [String] = ["Which shares memory?", "Which one copies?", "Which adds?"]
let options: [[String]] = [["a view", "a clone"], ["a view", "a clone"], ["sum", "cat"]]
let answers: [Int] = [0, 1, 0]
"""
    assert read_as("quiz.swift", swift) == [*WANTED, "Which adds? | + sum | - cat"]
    go = """
func quiz() {
	questions := []string{"Which shares memory?", "Which one copies?", "Which adds?"}
	options := [][]string{{"a view", "a clone"}, {"a view", "a clone"}, {"sum", "cat"}}
	answers := []int{0, 1, 0}
}
"""
    assert read_as("quiz.go", go) == [*WANTED, "Which adds? | + sum | - cat"]


def test_a_mapping_whose_names_ask() -> None:
    program = """
var quiz = map[string]map[string]string{
	"Which shares memory?": {"a": "a view", "b": "a clone", "answer": "a"},
	"Which one copies?": {"a": "a view", "b": "a clone", "answer": "b"},
	"Which adds?": {"a": "sum", "b": "cat", "answer": "a"},
}
"""
    assert read_as("quiz.go", program) == [*WANTED, "Which adds? | + sum | - cat"]


def test_options_that_variables_hold() -> None:
    program = """
class Seed { void run() {
    Answer view = new Answer("a view", true);
    Answer clone = new Answer("a clone", false);
    Question first = new Question("Which shares memory?", view, clone);
    String[] options = {"a view", "a clone"};
    add(first, new Question("Which one copies?", options, "a clone"));
} }
"""
    assert read_as("Seed.java", program) == WANTED


def test_a_call_of_the_program_whose_first_place_only_it_knows() -> None:
    program = """
    var questions = new List<Question>
    {
        Build(tensors.Id, "Which shares memory?", "a view", "a clone", "a copy", 1),
        Build(tensors.Id, "Which one copies?", "a view", "a slice", "a clone", 3),
    };
    context.Questions.AddRange(questions);
"""
    assert read_as("Seed.cs", program) == [
        "Which shares memory? | + a view | - a clone | - a copy",
        "Which one copies? | - a view | - a slice | + a clone",
    ]
    cards = 'new Card("What is a view?", "a window", "memory", 1); new Card("What is a leaf?", "an end", "graph", 2);'
    assert not any(" | " in one for one in read_as("Cards.cs", cards)), "the numbers count points"


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
