"""Questions of a Moodle course backup are read as those of its export are."""

from __future__ import annotations

from questions.model import Question
from questions.reader import Reading, read_bank

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def answer(number: int, text: str, fraction: str = "0.0000000", feedback: str = "") -> str:
    return (
        f'<answer id="{number}"><answertext>{text}</answertext><answerformat>1</answerformat>'
        f"<fraction>{fraction}</fraction><feedback>{feedback}</feedback><feedbackformat>1</feedbackformat></answer>"
    )


def question(kind: str, text: str, own: str = "", *, parent: str = "0", hidden: str = "0", why: str = "") -> str:
    return (
        f'<question id="7"><parent>{parent}</parent><name>A name</name><questiontext>{text}</questiontext>'
        f"<questiontextformat>1</questiontextformat><generalfeedback>{why}</generalfeedback>"
        f"<generalfeedbackformat>1</generalfeedbackformat><qtype>{kind}</qtype><hidden>{hidden}</hidden>"
        f"<idnumber>$@NULL@$</idnumber><plugin_qtype_{kind}_question>{own}</plugin_qtype_{kind}_question>"
        '<tags><tag id="1"><name>views</name><rawname>Views</rawname></tag></tags></question>'
    )


def category(number: str, name: str, questions: str, parent: str = "0") -> str:
    return (
        f'<question_category id="{number}"><name>{name}</name><parent>{parent}</parent>{questions}</question_category>'
    )


def backup(*questions: str) -> str:
    """Returns a backup as Moodle made it before version 4."""
    listed = f"<questions>{''.join(questions)}</questions>"
    parts = category("1", "top", "") + category("2", "Tensors", "", "1") + category("3", "Views", listed, "2")
    return f"{HEAD}<question_categories>{parts}</question_categories>"


def reading(text: str) -> Reading:
    return read_bank(text, name="questions.xml")


def only(text: str) -> Question:
    (found,) = reading(text).bank.questions
    return found


CHOICE = question(
    "multichoice",
    "&lt;p&gt;Which call &lt;b&gt;copies&lt;/b&gt;?&lt;/p&gt;",
    f"<answers>{answer(1, 't.t()', feedback='It is a view.')}{answer(2, 't.clone()', '1.0000000')}</answers>"
    '<multichoice id="1"><single>1</single></multichoice>',
    why="See its documentation.",
)


def test_a_choice_has_its_options_key_reasons_and_place() -> None:
    read = only(backup(CHOICE))
    assert read.prompt == "Which call **copies**?"
    assert [(one.text, one.right, one.reason) for one in read.options] == [
        ("t.t()", False, "It is a view."),
        ("t.clone()", True, ""),
    ]
    assert (read.why, read.section, read.title) == ("See its documentation.", ("Tensors", "Views"), "A name")
    assert read.tags == ("Views",)


def test_several_options_are_right_where_moodle_gives_each_a_part() -> None:
    halves = (
        f"{answer(1, 'a view', '0.5000000')}{answer(2, 'an alias', '0.5000000')}{answer(3, 'a copy', '-1.0000000')}"
    )
    own = f"<answers>{halves}</answers><multichoice><single>0</single></multichoice>"
    read = only(backup(question("multichoice", "What is `x.t()`?", own)))
    assert [one.right for one in read.options] == [True, True, False]


def test_the_numbers_of_answers_say_which_is_true_in_any_language() -> None:
    own = (
        f"<answers>{answer(11, 'Wahr')}{answer(12, 'Falsch', '1.0000000')}</answers>"
        "<truefalse><trueanswer>11</trueanswer><falseanswer>12</falseanswer></truefalse>"
    )
    read = only(backup(question("truefalse", "A view copies its data.", own)))
    assert [(one.text, one.right) for one in read.options] == [("True", False), ("False", True)]


def test_a_number_has_its_tolerance() -> None:
    own = (
        f"<answers>{answer(5, '2.5', '1.0000000')}{answer(6, '9')}</answers><numerical_records>"
        "<numerical_record><answer>6</answer><tolerance>7</tolerance></numerical_record>"
        "<numerical_record><answer>5</answer><tolerance>0.25</tolerance></numerical_record></numerical_records>"
    )
    read = only(backup(question("numerical", "How many?", own)))
    assert (read.answer, read.why) == ("2.5", "Accepted: 2.25 to 2.75.")


def test_short_answers_essays_and_pairs() -> None:
    short = question(
        "shortanswer", "Which method makes a copy?", f"<answers>{answer(1, 'clone', '1.0000000')}</answers>"
    )
    essay = question("essay", "Why does it copy?", "<essay><graderinfo>Its strides differ.</graderinfo></essay>")
    pairs = "".join(
        f"<match><questiontext>{left}</questiontext><answertext>{right}</answertext></match>"
        for left, right in (("t()", "a view"), ("clone()", "a copy"))
    )
    match = question("match", "What does it return?", f"<matches>{pairs}</matches>")
    found = reading(backup(short, essay, match)).bank.questions
    assert "clone" in str(found[0].answer or found[0].key_points)
    assert found[1].key_points and "strides differ" in str(found[1].key_points)
    assert [[one.text for one in pair.options if one.right] for pair in found[2:]] == [["a view"], ["a copy"]]


def test_of_each_question_the_newest_version_is_read() -> None:
    versions = "".join(
        f'<question_versions id="{number}"><version>{number}</version><questions>'
        f"{CHOICE.replace('Which call', f'Version {number}: which call')}</questions></question_versions>"
        for number in (9, 10, 2)
    )
    entry = f"<question_bank_entry><question_version>{versions}</question_version></question_bank_entry>"
    parts = category("1", "Views", f"<question_bank_entries>{entry}</question_bank_entries>")
    assert only(f"{HEAD}<question_categories>{parts}</question_categories>").prompt.startswith("Version 10:")


def test_what_is_hidden_or_unsupported_is_named_and_a_random_draw_is_no_question() -> None:
    read = reading(
        backup(
            question("random", "1", parent="7"),
            question("shortanswer", "{1:A PART}", parent="3"),
            CHOICE.replace("<hidden>0", "<hidden>1"),
            question("multianswer", "It is {#1}."),
            CHOICE,
        )
    )
    assert len(read.bank.questions) == 1
    assert [one.message for one in read.findings] == [
        "the question is hidden in Moodle",
        "unsupported question type `multianswer` in a backup",
    ]


def test_a_backup_without_questions_and_one_that_is_broken_say_so() -> None:
    assert [one.message for one in reading(backup()).findings] == ["the backup has no questions"]
    (broken,) = reading(backup(CHOICE).removesuffix("</question_categories>")).findings
    assert broken.message.startswith("invalid XML")
    # Categories that name each other as parents do not keep the reader busy.
    circle = category("1", "a", f"<questions>{CHOICE}</questions>", "2") + category("2", "b", "", "1")
    assert only(f"{HEAD}<question_categories>{circle}</question_categories>").options
