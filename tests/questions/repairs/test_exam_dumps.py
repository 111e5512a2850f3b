"""Exam dumps: numbers and topics of questions in lines of their own, buttons of a site, and votes on the answers."""

from __future__ import annotations

import pytest

from questions import Question, Reading, read_bank


def read(text: str, name: str = "d.txt") -> Reading:
    reading = read_bank(text, name=name)
    assert reading.unaccounted() == ()
    return reading


def shown(question: Question) -> str:
    return f"{question.prompt} {' '.join('*' * one.right + one.text for one in question.options)}"


PLAIN = """{first}
You need to share memory. Which call do you use?
A. clone
B. view
C. copy
{answer} B

{second}
You need to copy the data. Which call do you use?
A. view
B. expand
C. clone
{answer} C
"""
READ = [
    "You need to share memory. Which call do you use? clone *view copy",
    "You need to copy the data. Which call do you use? view expand *clone",
]


@pytest.mark.parametrize(
    "title",
    [
        "Question #{} Topic 1",
        "Question #{} - Topic 1",
        "## Question #{} Topic 1",
        "**Question {} | Topic 1**",
        "Topic 1 Question #{}",
        "Topic 1 - Question {}:",
        "Exam AZ-104 topic 1 question {} discussion",
        "NEW QUESTION {}\n- (Topic 1)",
        "QUESTION {}\n(Exam Topic 2)",
    ],
)
@pytest.mark.parametrize("answer", ["Correct Answer:", "Suggested Answer:", "**Correct Answer:**"])
def test_a_number_with_a_topic_starts_a_question(title: str, answer: str) -> None:
    reading = read(PLAIN.format(first=title.format(1), second=title.format(2), answer=answer))
    assert [shown(one) for one in reading.bank.questions] == READ
    assert [one.number for one in reading.bank.questions] == ["1", "2"]
    assert reading.findings == ()


def test_no_line_between_two_questions_is_needed() -> None:
    text = PLAIN.format(first="Topic 1 Question #1", second="Topic 1 Question #2", answer="Correct Answer:")
    assert [shown(one) for one in read(text.replace("\n\n", "\n")).bank.questions] == READ


def test_a_number_alone_starts_a_question_where_readers_suggest_answers() -> None:
    text = PLAIN.format(first="Question #1", second="Question #2", answer="Suggested Answer:")
    assert [shown(one) for one in read(text).bank.questions] == READ


def test_numbers_begin_anew_in_each_topic() -> None:
    text = PLAIN.format(first="Question #1 Topic 1", second="Question #1 Topic 2", answer="Correct Answer:")
    reading = read(text)
    assert [one.section for one in reading.bank.questions] == [(), ("Topic 2",)]
    assert reading.findings == ()


VOTED = """Question #1 Topic 1
Which call shares memory?

A. clone
B. view{mark}
C. copy

Reveal Solution Hide Solution Discussion 12
Correct Answer: {key}
{vote}

Question #2 Topic 1
Which call copies?

A. clone
B. view
Correct Answer: A 🗳️
"""


@pytest.mark.parametrize(
    ("mark", "vote"),
    [
        (" Most Voted", ""),
        (" (Most Voted)", ""),
        ("\nMost Voted", ""),
        ("", "Community vote distribution\nB (85%)\nA (10%)\n5%"),
        ("", "Community vote: B (85%), A (15%)"),
        ("", "B (85%) A (10%) Other (5%)"),
        ("", "A (15%)\nB (85%)"),
        (" Most Voted", "Community vote distribution\nB (100%)"),
    ],
)
def test_a_vote_is_no_part_of_a_question_and_may_contradict_its_key(mark: str, vote: str) -> None:
    agreed = read(VOTED.format(mark=mark, vote=vote, key="B"))
    assert [shown(one) for one in agreed.bank.questions] == [
        "Which call shares memory? clone *view copy",
        "Which call copies? *clone view",
    ]
    assert [one.why for one in agreed.bank.questions] == ["", ""]
    assert agreed.findings == ()
    contradicted = read(VOTED.format(mark=mark, vote=vote, key="C"))
    assert shown(contradicted.bank.questions[0]) == "Which call shares memory? clone view *copy"
    (finding,) = contradicted.findings
    assert (finding.code, finding.severity) == ("Q123", "warning")
    assert finding.message.startswith("the stated answer is C, and most readers voted for B")
    assert contradicted.source.line(finding.span.line) == "Correct Answer: C"


def test_a_share_behind_the_stated_answer_is_a_vote() -> None:
    text = PLAIN.format(first="Question #1 Topic 1", second="Question #2 Topic 1", answer="Suggested Answer:")
    reading = read(text.replace("Answer: B", "Answer: B (62%)").replace("Answer: C", "Answer: C (100%)"))
    assert [shown(one) for one in reading.bank.questions] == READ
    assert [one.why for one in reading.bank.questions] == ["", ""] and reading.findings == ()


def test_votes_for_several_options_are_compared_as_a_whole() -> None:
    text = VOTED.format(mark="", vote="BC (60%) AB (40%)", key="BC")
    assert read(text).findings == ()
    assert [one.code for one in read(text.replace("Answer: BC", "Answer: AB")).findings] == ["Q123"]


def test_a_vote_without_a_stated_answer_is_no_key() -> None:
    reading = read(VOTED.format(mark=" Most Voted", vote="", key="").replace("Correct Answer: \n", ""))
    assert not reading.bank.questions[0].answered
    assert [(one.code, one.severity) for one in reading.findings] == [("Q101", "warning"), ("Q123", "note")]


@pytest.mark.parametrize(
    "text",
    [
        "Question #1\nWhich call shares memory?\nA. clone\nB. view\n\nCorrect Answer: B\n\nMost Voted options win.\n",
        "# Topics\n\nIn question 1, topic 2 is discussed. What is topic 2?\n",
        "```\nQuestion #1 Topic 1\n```\n",
    ],
)
def test_other_documents_stay_as_they_are(text: str) -> None:
    assert read(text, "d.md").source.lines == tuple(text.split("\n"))


PAGE = """Actual exam question from Vendor's Engineer
Question #: {number}
Topic #: 1
[All Engineer Questions]
Which service stores objects in bucket {number}?

A. A queue
B. A bucket
{stated}by someone at March 1, 2026, noon
Comments
Chosen Answer: AB
This is a voting comment (?).
reader 1 week ago
Selected Answer: A
Why would it be B?
upvoted 1 times

"""


def test_pages_of_single_questions_with_comments() -> None:
    stated = "Suggested Answer: B\nCommunity vote distribution\nB (100%)\n"
    text = PAGE.format(number=7, stated=stated) + PAGE.format(number=8, stated="")
    questions = read_bank(text, name="dump.txt").bank.questions
    assert [(one.number, one.prompt) for one in questions] == [
        (number, f"Which service stores objects in bucket {number}?") for number in "78"
    ]
    # What a reader selected is no key.
    assert [[option.id for option in one.options if option.right] for one in questions] == [["b"], []]
