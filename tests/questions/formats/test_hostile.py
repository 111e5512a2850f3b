"""Hostile documents: no reader crashes, hangs, loses a line or reads other files."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Reading, as_data, from_data, read_bank, read_path
from questions.formats import IMPORT_FORMATS, SUFFIXES, draft
from questions.report import reading_text, readings_json
from tests.calls import calls_of

FRAGMENTS: dict[str, list[str]] = {
    ".org": [
        *("* ", "** TODO ", "a?", " :tag:", "\n", "\n\n", "#+TITLE: t\n", "#+begin_src\n", "#+end_src\n", ":a:\n"),
        *(":END:\n", "#+begin_quote\n", "#+end_quote\n", "=a=", "*b*", "[[x][y]]", "|--+--|\n", "- a\n", "# ", "\t"),
    ],
    ".rst": [
        *(
            "a?\n",
            "===\n",
            "---\n",
            "b\n",
            "\n",
            ".. code::\n",
            "   :x: y\n",
            "   z\n",
            ".. mchoice:: a\n",
            "   :answer_a: a\n",
            "   :correct: a\n",
            "   - a\n",
            "     + b\n",
            ":func:`a`",
            "`a <b>`_",
            "- a\n",
        ),
        *("`a <b>`_", "A) a\n", "Answer: A\n", "\t", "`", "::\n", "#. "),
    ],
    ".gift": [
        *(
            "::t::",
            "{",
            "}",
            "=a",
            "~b",
            "~%50%c",
            "#",
            "->",
            "####why",
            "T",
            "FALSE",
            "{}",
            "{T}",
            "{#1..5}",
            "{=a ~b}",
        ),
        *(
            "[html]",
            "[markdown]",
            "\\",
            "\\n",
            "// [id:a-b] [tag:c]\n",
            "$CATEGORY: a/b\n",
            "\n",
            "\n\n",
            "<b>",
            "1e999",
        ),
    ],
    ".yaml": [
        *(
            "q?:\n",
            "- a\n",
            "- yes\n",
            "AUTHOR: x\n",
            "CONFIG:\n",
            "  a: b\n",
            "'",
            '"',
            "&a ",
            "*a",
            "{",
            "}",
            "[",
            "]",
        ),
        *("? ", ": ", "!!python/object/apply:os.system ", "%YAML 9\n", "---\n", "|\n", "\t", "#", "<<: *a\n", "\x85"),
    ],
    ".json": [
        *(
            '{"response_code": 0, "results": [',
            '{"question": "q?", "correct_answer": "a"',
            ', "incorrect_answers": ["b"]}',
        ),
        *(
            ",",
            "]",
            "}",
            "[",
            "{",
            '"',
            ":",
            "null",
            "1e999",
            "NaN",
            '"type": "boolean"',
            "&quot;",
            "%41",
            "bXVsdGlwbGU=",
        ),
        *('{"format": "dailygrad-bank", "version": 1, "questions": [', '{"id": "a", "kind": "open"', "\n", "\\ud800"),
    ],
    ".xml": [
        *(
            "<quiz>",
            "</quiz>",
            '<question type="multichoice">',
            '<question type="essay">',
            "</question>",
            "<text>",
            "</text>",
        ),
        *(
            "<questiontext>",
            "</questiontext>",
            '<answer fraction="100">',
            "</answer>",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
        ),
        *("&amp;", "&x;", "<!DOCTYPE a>", '<?xml version="1.0"?>', "q?", "\n", "<single>", "</single>", "&#0;", '"'),
    ],
    ".sql": [
        *("INSERT INTO questions ", "(id, question, answer) ", "(question_id, text, is_correct) ", "VALUES ", "(1, "),
        *("'Which?', ", "'it''s')", "NULL, ", "true)", ", ", ";\n", "\n", "--", "/*", "(", ")", "'", '"', "`", "\\"),
        "CREATE TABLE questions (id INT, question TEXT, answer TEXT);\n",
    ],
    ".php": [
        *(
            "<?php\n",
            "$a = [",
            "array(",
            "'question' => ",
            "'Which?', ",
            "'answer' => ",
            '"b"',
            "],\n",
            ")",
            "]",
            ";\n",
        ),
        *("'options' => ", "['a', 'b'],", "1 => ", ".", "#", "//", "/*", "$b", "'", '"', "\\", "null, ", "\n"),
    ],
    ".ts": [
        *(
            "const a = `\n",
            "question,answer\n",
            "Which one?,this\n",
            "`;\n",
            "const b = [{ ",
            "question: ",
            "'Which?'",
            " + ",
        ),
        *(
            "Kind.TEXT",
            "[[Kind.TEXT, 'a'], [Kind.CODE, 'b']], ",
            "answer: 'a' }",
            ", ",
            "];\n",
            "${",
            "\\",
            "`",
            "(",
            ")",
            "\n",
        ),
    ],
    ".dart": [
        *(
            "Question(",
            "question: ",
            '"Which?"',
            ", ",
            "options: [",
            '"a", ',
            '"b"',
            "]",
            ")",
            "new Quiz {",
            "}",
            " = ",
        ),
        *(
            "class Question(",
            "this.text, ",
            "String[] a",
            "<int>[",
            "//",
            "/*",
            "'",
            '"',
            "\\",
            "$a",
            "\n",
            ";",
            "true",
        ),
    ],
    ".typ": [
        *(
            "#question[",
            "#answer(a: (1,))[",
            "#let a = {",
            "#a(prompt: [b], ",
            "distractors: (",
            '"c", ',
            "answer: [d])",
        ),
        *("]", ")", "}", "+ a?\n", "  - [x] b\n", "= c\n", "$", "`", "*", "\\", "//", "/*", '"', "\n"),
    ],
    ".tex": [
        *(
            "\\item What is it?\n",
            "\\item Explain the word.\n",
            "\n",
            "\nIt is a sum of squares.\n",
            "\\begin{itemize}\n",
        ),
        *("\\end{itemize}\n", "\\section{a}\n", "$x$", "{", "}", "\\", "%", "\\begin{verbatim}\n", "\\end{verbatim}\n"),
    ],
    ".amc": [
        *(
            "* Which?\n",
            "** Which of them?\n",
            "*[group=a]{b=1}<lines=2> What?\n",
            "+ a\n",
            "- b\n",
            "+{x} c\n",
            "    d\n",
        ),
        *("\n", "# e\n", "*(\n", "*)\n", "Title: f\n", "\t", "`", "**", "g\n"),
    ],
    ".aiken": ["What?\n", "A. a\n", "B) b\n", "ANSWER: A\n", "ANSWER: B, A\n", "\n", "Z. z", "ANSWER:", "\t", "# a\n"],
    ".txt": [
        *(
            "#separator:tab\n",
            "#separator:comma\n",
            "#html:true\n",
            "#tags column:3\n",
            "#columns:a,b\n",
            "a\tb\n",
            "a,b\n",
        ),
        *(
            "{{c1::a}}",
            "{{c2::b::c}}\t",
            '"',
            "<b>",
            "[sound:a]",
            "\t",
            "\n",
            "What?\nA. a\nB. b\nANSWER: A\n",
            "{=a ~b}\n",
        ),
    ],
    ".csv": [
        *(
            "question,answer\n",
            "question;a;b;correct\n",
            "sep=|\n",
            "a,b\n",
            '"',
            '""',
            ",",
            ";",
            "\t",
            "\n",
            "A,B",
            "x|y",
        ),
        *("id,kind,question,options,correct\n", "value", "output", "\x00", "=1+1", "a" * 200),
    ],
}


def documents(suffix: str) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(st.sampled_from(FRAGMENTS[suffix]), max_size=40).map("".join),
        st.lists(st.one_of(st.sampled_from(FRAGMENTS[suffix]), st.text(max_size=5)), max_size=30).map("".join),
        st.text(max_size=100),
    )


ANY = st.sampled_from(sorted(FRAGMENTS)).flatmap(lambda suffix: st.tuples(st.just(suffix), documents(suffix)))


def is_sound(reading: Reading) -> None:
    assert reading.unaccounted() == ()
    count = len(reading.source.lines)
    for question in reading.bank.questions:
        assert 1 <= question.place.line <= question.place.end_line <= count
        assert question.id and question.prompt.strip()
        assert from_data(as_data(question)) == question
    for finding in reading.findings:
        span = finding.span
        assert 1 <= span.line <= span.end_line <= count and span.column >= 1
        assert finding.message and finding.help and "\n" not in finding.message
    assert reading_text(reading).plain.endswith("\n") and readings_json([reading])


@settings(max_examples=700)
@given(ANY)
def test_any_text_is_read_and_every_line_accounted_for(document: tuple[str, str]) -> None:
    suffix, text = document
    is_sound(read_bank(text, name=f"any{suffix}"))


@settings(max_examples=200)
@given(st.sampled_from(SUFFIXES), st.binary(max_size=200))
def test_any_bytes_are_read(suffix: str, data: bytes) -> None:
    is_sound(read_bank(data, name=f"any{suffix}"))


@settings(max_examples=150)
@given(ANY)
def test_the_errors_of_a_choice_are_never_a_readers_doing(document: tuple[str, str]) -> None:
    suffix, text = document
    reading = read_bank(text, name=f"any{suffix}")
    if reading.bank.dialects != ("json",):
        codes = {finding.code for finding in reading.findings}
        assert codes.isdisjoint({"Q200", "Q201", "Q202", "Q204", "Q205", "Q206", "Q209", "Q210", "Q212"})


N = 20_000
TEX = "\\documentclass{exam}\n\\begin{document}\n"
HOSTILE = {
    "braces.gift": "::a::" + "{" * N,
    "answers.gift": "::a:: q {" + "=a ~b " * N + "}",
    "title.gift": "::" + "a:" * N,
    "backslashes.gift": "q {=a" + "\\" * N + "~b}",
    "notes.gift": "//" + "[id:" * N + "\n\nq {=a ~b}",
    "open.gift": "q {\n" * N,
    "ranges.gift": "q {#" + "1.." * N + "}",
    "digits.gift": "q {#" + "1" * N + "}",
    "bold.gift": "[html]" + "<b>" * N + " {=a ~b}",
    "bolds.gift": "[html]" + "<b>x</b>" * (N // 4) + " {=a ~b}",
    "attributes.gift": "[html]<a " + "a" * N + "> {=a ~b}",
    "comments.gift": "[html]" + "<!--" * N + " {=a ~b}",
    "quotes.gift": "[html]" + '<a "' * N + " {=a ~b}",
    "marks.gift": "[plain]" + "`" * N + "_" * N + "*" * N + " {=a ~b}",
    "flow.yaml": "a:\n- b\nc: " + "[" * N,
    "maps.yaml": "a:\n- b\nc: " + "{a: " * N,
    "aliases.yaml": "a: &a [x,x]\n" + "".join(f"k{i}: &k{i} [{','.join(['*a'] * 9)}]\n" for i in range(2000)),
    "keys.yaml": "q?: a\n" * (N // 10),
    "explicit.yaml": "q?:\n- a\n" + "? " * N,
    "deep.json": '{"response_code":0,"results":' + "[" * N,
    "deeper.json": '{"response_code":0,"results":[{"correct_answer":' + '{"a":' * N,
    "nested.json": '{"response_code":0,"results":[' + "[" * 900 + "]" * 900 + "]}",
    "digits.json": '{"response_code":0,"results":[' + "9" * N + "]}",
    "spaces.sql": "INSERT" + " " * N + "INTO a VALUES (",
    "dollars.sql": "INSERT INTO questions (question, answer) VALUES (" + ", ".join(f"$a{at}$" for at in range(N)),
    "quotes.sql": "INSERT INTO a (b) VALUES ('" + "''" * N,
    "brackets.sql": "INSERT INTO a (b) VALUES " + "(" * N,
    "statements.sql": "INSERT INTO a (b) VALUES (1);" * (N // 30),
    "tables.sql": "".join(f"INSERT INTO a{at} (question, answer) VALUES (1, 2);\n" for at in range(N // 40)),
    "columns.sql": "CREATE TABLE a (" + "(" * N,
    "arrays.php": "<?php $a = " + "[" * N,
    "starts.php": "<?php " + "$a = [" * N,
    "arrows.php": "<?php $a = [" + "'a' => [1, " * N,
    "open.php": "<?php $a = [" + "'a' => [1]," * N,
    "quotes.php": "<?php $a = ['" + "\\'" * N,
    "calls.dart": "Question(" * N,
    "closed.dart": "Question(" * N + ")" * N,
    "records.dart": 'Question(question: "Which?", options: ["a", "b"]),' * (N // 40),
    "texts.php": "<?php $a = ['b' => c(" + "<<<D\n" * N,
    "comments.php": "<?php $a = ['b' => c(" + "/*" * N,
    "objects.js": "new Question(" * N,
    "classes.js": "class A " * N,
    "functions.js": "function A(b, " * N,
    "assigned.js": "new A; a = [" * N,
    "held.py": "a = [" + "1," * (2 * N) + "]\n" + "Q('Which?', a)\n" * N,
    "held.js": "a = [" + "'b', " * (2 * N) + "]; " + "new Question('Which?', a); " * (N // 2),
    "nested.py": "Question(" * 80 + "[" + "'b', " * (4 * N) + "]" + ")" * 80,
    "objects.py": "a = [" + "Question(b), " * N + "]",
    "scripts.html": "<script>new Question('a'" * (N // 10),
    "lists.swift": "let a = [1, 2, 3]\n" * (2 * N),
    "colons.swift": "a : = " * N,
    "quotes.java": '"' * N,
    "texts.kt": '"""' * N,
    "comments.cs": "/*" * N,
    "types.go": "a<" * N,
    "words.swift": "a." * N + "b",
    "assigned.json": "a = [" * N,
    "commas.json": '[{"question": "Which?", "answer": "a"}' + '\n{"question": "b", "answer": "c"}' * (N // 40) + "]",
    "lines.json": '[{"question": "' + "\n" * N + '"}]',
    "open.json": '[{"question": "' + '\n"a' * N,
    "calls.typ": "#question[" * N,
    "closed.typ": "#question[" * N + "]" * N,
    "arguments.typ": "#a(" + "prompt: [b], " * N + ")",
    "formulas.typ": "$" * N + "`" * N + "\\" * N,
    "asking.typ": "#question[Why?]\n#answer[So.]\n" * (N // 20),
    "statements.typ": "#let a = (\n" * N,
    "spaces.ts": "const a =" + " " * N + "=" + "\n" * N,
    "marks.ts": "const a = `" + "\\`" * N,
    "texts.ts": "const a = `\n\n\n\n`;\n" * (N // 20),
    "kinds.ts": "const a = [" + "[A.B, 'c'], " * (N // 10),
    "sums.ts": "const a = [" + "'b' + " * N,
    "items.tex": "\\item" + "\t" * N + "\n",
    "asking.tex": "\\item Why?\n\nIt is so for a reason.\n\n" * (N // 40),
    "stars.amc": "*[" * N + "\n+ a\n- b\n",
    "signs.amc": "** a?\n+ b\n- c\n" * (N // 20),
    "deep.xml": "<quiz>" + "<question>" * N,
    "wide.xml": "<quiz>" + "<question/>" * N,
    "attributes.xml": "<quiz " + " ".join(f'a{i}="b"' for i in range(N)) + "/>",
    "comments.xml": "<!--" * N,
    "quotes.csv": "question,answer\n" + '"a\n' * N,
    "field.csv": 'question,answer\n"' + "a" * 10 * N,
    "cells.csv": "question,answer\n" + "," * N,
    "options.csv": 'question,options,correct\na,"' + "x|" * N + '",x',
    "right.csv": 'question,options,correct\na,a|b|c,"' + "a," * N + '"',
    "options.aiken": "q\nA. b\nB. c\nANSWER: A\n" + "A. x\n" * N,
    "gaps.txt": "#separator:tab\n" + "{{c1::" * N + "\tb",
    "gap.txt": "#separator:tab\n{{c1::" + ":" * N + "\tb",
    "sounds.txt": "#separator:tab\n" + "[sound:" * N + "\tb",
    "separator.txt": '#separator:"\na"b\n',
    "no-separator.txt": "#separator:\n",
    "spaces.org": "* x" + " " * 10 * N + "y",
    "tags.org": "* x" + " :a" * N,
    "marks.org": "* x\n" + "=a " * N + "*b " * N + "[[" * N,
    "drawers.org": "* x\n" + ":a:\n" * (N // 10),
    "open.org": "#+begin_src\n" * (N // 10),
    "spaces.rst": "x\n===\n\n`" + " " * 10 * N,
    "roles.rst": "x\n===\n\n" + ":a:`" * N + "`a <" * N,
    "titles.rst": "===\n" * (N // 10),
    "programs.rst": ".. code::\n\n   x\n" * (N // 10),
    "directives.rst": ".. mchoice:: a\n\n" * (N // 10),
    "long_field.rst": ".. mchoice:: a\n   :answer_a: x\n" + "   y\n" * N,
    "lists.Rmd": "Question\n===\nAnswerlist\n---\n" * (N // 10)
    + "* a\n" * N
    + "Meta-information\n===\nextype: schoice\n",
    "programs.Rmd": "Question\n===\n" + "`r `" * N + "\n```{r\n" * N + "\nMeta-information\n===\nextype: num\n",
    "moodle.tex": TEX + "\\begin{multi}\\item*" * N,
    "marked.tex": TEX + "a?\n\\begin{itemize}\\item[\\correct]\\item[\\wrong]\\end{itemize}\n" * (N // 10),
    "environments.tex": TEX + "\\begin{exercise}" * N,
    "nested.tex": TEX + "\\begin{enumerate}\\item What? " * N,
    "closed.tex": TEX + "\\begin{center}\\end{enumerate}" * N,
    "braces.tex": TEX + "\\question a" + "\\textbf{" * N,
    "closed_braces.tex": TEX + "\\question a" + "\\textbf{" * N + "}" * N,
    "formulas.tex": TEX + "\\question a" + "\\(" * N + "$" * (N + 1) + "\\$" * N + "\\[" * N,
    "code.tex": TEX + "\\question a" + "\\verb|a" * N + "\\verb!" * N + "\\lstinline[" * N,
    "listings.tex": TEX + "\\question a\n" + "\\begin{lstlisting}\n" * N,
    "tables.tex": TEX + "\\question a " + "\\begin{tabular}" * N + "\\end{tabular}" * N,
    "spaces.tex": TEX + "\\question" + " " * 10 * N + "a\\foo" + "\n" * N,
    "choices.tex": TEX + "\\question a\\begin{choices}" + "\\choice b" * N,
    "questions.tex": TEX + "\\question a? \\newpage b\n" * (N // 4),
    "parts.tex": TEX + "\\question " + "a " * N + "\\begin{parts}" + "\\part b? \n" * (N // 4),
    "announced.md": "## Answers\n\nQ1)\n- Correct: A\n" * (N // 2),
    "parents.xml": "<question_categories>"
    + "".join(
        f'<question_category id="{n}"><name>a</name><parent>{n + 1}</parent></question_category>' for n in range(N)
    )
    + "</question_categories>",
    "answers.xml": "<question_categories><question_category><questions><question><qtype>numerical</qtype>"
    "<questiontext>a</questiontext><plugin_qtype_numerical_question>"
    + "<answer><answertext>1</answertext></answer><numerical_record/>" * N
    + "</plugin_qtype_numerical_question></question></questions></question_category></question_categories>",
    "deep_line.json": '{"a": 1}\n' + "[" * N,
    "long_number.json": '{"a": ' + "1" * N + "}",
    "long_number_line.jsonl": '{"a": 1}\n{"a": ' + "1" * N + "}",
    "long_feedback.rst": ".. mchoice:: a\n\n   a?\n\n   - a\n     + b\n" + "       y\n" * N,
}


@contextmanager
def seconds(limit: int) -> Iterator[None]:
    """Fails if the block takes more CPU time, so that a reader that hangs does not stop the other tests."""

    def late(*_: object) -> None:
        raise TimeoutError(f"longer than {limit} s of CPU")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_costs_little(name: str) -> None:
    with seconds(12):
        reading = read_bank(HOSTILE[name].encode(), name=name)
    assert reading.findings or len(reading.bank.questions) == 1


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY l{i} "{(f"&l{i - 1};" if i else "&lol;") * 10}">' for i in range(20))
    + "]><quiz><question><questiontext><text>&l19;</text></questiontext></question></quiz>"
)


@pytest.mark.parametrize(
    "text",
    [
        ENTITIES,
        '<?xml version="1.0"?><!DOCTYPE quiz SYSTEM "file:///etc/passwd"><quiz/>',
        '<!DOCTYPE quiz [<!ENTITY x SYSTEM "file:///etc/passwd">]><quiz><question>&x;</question></quiz>',
        '<!DOCTYPE quiz [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]><quiz/>',
    ],
    ids=["laughs", "doctype", "entity", "parameter"],
)
def test_declarations_are_refused(text: str) -> None:
    reading = read_bank(text, name="a.xml")
    assert [(finding.code, finding.severity) for finding in reading.findings] == [("Q602", "error")]
    assert reading.bank.questions == ()


def test_a_document_of_many_mebibytes_is_refused() -> None:
    reading = read_bank(b"q?:\n- a\n" * (3 * 2**20), name="a.yaml")
    assert [finding.code for finding in reading.findings] == ["Q602"]


def test_more_questions_than_a_document_may_hold_are_named_once() -> None:
    count = draft.MOST_QUESTIONS + 10
    text = "question,answer\n" + "".join(f"q{number},a{number}\n" for number in range(count))
    reading = read_bank(text, name="a.csv")
    assert len(reading.bank.questions) == draft.MOST_QUESTIONS
    (finding,) = (finding for finding in reading.findings if finding.code == "Q603")
    assert (finding.span.line, finding.span.end_line) == (draft.MOST_QUESTIONS + 2, count + 1)


def calls(name: str, text: str) -> int:
    """Counts the Python functions called to read a document."""
    return calls_of(lambda: read_bank(text, name=name))


ONE = {
    "a.gift": "::t{n}::What is number {n}? {=a#b ~c ~d####e}\n\n",
    "a.yaml": "What is number {n}?:\n- a{n}\n- b\n",
    "b.yaml": "q{n}:\n  question: What is number {n}?\n  options: [a, b]\n  correct: a\n",
    "a.jsonl": '{"q": "What is number {n}?", "a": ["x", "y"], "c": 0}\n',
    "a.js": "new Question('What is number {n}?', ['x', 'y'], 'x');\n",
    "a.py": "Question('What is number {n}?', ['x', 'y'], 'x')\n",
    "a.csv": "What is number {n}?,a{n}\n",
    "a.aiken": "What is number {n}?\nA. a\nB. b\nANSWER: A\n\n",
    "a.txt": "What is number {n}?\ta{n}\n",
    "a.tex": "\\question What is {n}? \\begin{choices}\\choice a\\CorrectChoice $b$\\end{choices}\n",
}
BEFORE = {"b.yaml": "count: 40\n", "a.tex": TEX, "a.csv": "question,answer\n", "a.txt": "#separator:tab\n"}


@pytest.mark.parametrize("name", ONE)
def test_work_grows_with_the_length_of_a_document(name: str) -> None:
    short, long = (
        calls(name, BEFORE.get(name, "") + "".join(ONE[name].replace("{n}", str(n)) for n in range(count)))
        for count in (40, 80)
    )
    assert long < 2.3 * short


def test_markdown_is_left_to_the_dialects() -> None:
    text = "# Title\n\nQuestion {=a ~b}?\nA. a\nB. b\nANSWER: A\n"
    for name in ("a.md", "a.markdown", "a.txt", "a"):
        assert read_bank(text, name=name).bank.dialects not in {(foreign.name,) for foreign in IMPORT_FORMATS}


def test_the_suffix_decides_and_otherwise_the_content() -> None:
    documents = {
        "gift": "::a::What? {=b ~c}\n",
        "aiken": "What?\nA. a\nB. b\nANSWER: A\n",
        "anki-text": "#separator:tab\nWhat?\tThat\n",
        "csv": "question,answer\nWhat?,That\n",
        "moodle-xml": '<quiz><question type="essay"><questiontext><text>Why?</text></questiontext></question></quiz>',
        "opentdb": '{"response_code":0,"results":[{"question":"q","correct_answer":"a","incorrect_answers":["b"]}]}',
    }
    for dialect, text in documents.items():
        for name in ("download", "a.txt"):
            reading = read_bank(text, name=name)
            assert reading.bank.dialects == (dialect,)
            assert len(reading.bank.questions) == 1


def test_a_folder_gives_foreign_documents_too(tmp_path: Path) -> None:
    (tmp_path / "a.GIFT").write_text("::a::What? {=b ~c}\n", "utf-8")
    (tmp_path / "b.csv").write_text("question,answer\nWhat?,That\n", "utf-8")
    (tmp_path / "c.png").write_bytes(b"\x89PNG")
    assert [reading.bank.dialects for reading in read_path(tmp_path)] == [("gift",), ("csv",)]
