"""Workbooks and zipped tests: the templates of quiz programs in their own layout, and packages that cannot be read."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

from questions import Question, Reading, read_bank

Cell = str | int | float | bool | None

KAHOOT: list[list[Cell]] = [
    ["", "Quiz template"],
    ["", "Add questions, at least two answer alternatives, time limit and choose correct answers (at least one)."],
    [],
    ["", "Remember: questions have a limit of 120 characters and answers can have 75 characters max."],
    [],
    [
        "",
        "Question - max 120 characters",
        "Answer 1 - max 75 characters",
        "Answer 2 - max 75 characters",
        "Answer 3 - max 75 characters",
        "Answer 4 - max 75 characters",
        "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs",
        "Correct answer(s) - choose at least one",
    ],
    [1, "Which calls copy?", "clone", "view", "repeat", "expand", 20, "1,3"],
    [2, "Which number is even?", 3, 1, 4, 5, 30, 3],
    [3, "Is a view a copy?", True, False, None, None, 20, 2],
    [4, None, None, None, None, None, None, None],
    [5],
]
FORM: list[list[Cell]] = [
    [
        *("Question Text", "Question Type", "Option 1", "Option 2", "Option 3"),
        *("Correct Answer", "Time in seconds", "Image Link", "Answer explanation"),
    ],
    ["Which call copies?", "Multiple Choice", "clone", "view", "expand", 1, 30, "", "The others share memory."],
    ["Which calls share memory?", "Checkbox", "clone", "view", "expand", "2,3", 30, "", ""],
    ["What is a view?", "Open-Ended", "", "", "", "", 60, "", ""],
]
RESPONSES: list[list[Cell]] = [
    ["ID", "Start time", "Completion time", "Email", "Total points", "What is a view?", "Points - What is a view?"],
    [1, 45000.5, 45000.6, "a@example.org", 1, "A tensor that shares memory", 1],
    [2, 45000.7, 45000.8, "b@example.org", 0, "A copy", 0],
]


def workbook(*sheets: list[list[Cell]]) -> bytes:
    """Returns sheets as a workbook, with texts in a shared table as spreadsheet programs write them."""
    texts: list[str] = []

    def cell(value: Cell, name: str) -> str:
        if value is None or value == "":
            return f'<c r="{name}" s="1"/>'
        if isinstance(value, bool):
            return f'<c r="{name}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, str):
            texts.append(value)
            return f'<c r="{name}" t="s"><v>{len(texts) - 1}</v></c>'
        return f'<c r="{name}"><v>{value}</v></c>'

    stream = io.BytesIO()
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("xl/workbook.xml", f"<workbook {space}/>")
        for number, rows in enumerate(sheets, 1):
            written = (
                f'<row r="{r}">' + "".join(cell(value, f"{chr(65 + c)}{r}") for c, value in enumerate(row)) + "</row>"
                for r, row in enumerate(rows, 1)
            )
            data = f"<worksheet {space}><sheetData>{''.join(written)}</sheetData></worksheet>"
            package.writestr(f"xl/worksheets/sheet{number}.xml", data)
        shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        package.writestr("xl/sharedStrings.xml", f"<sst {space}>{shared}</sst>")
    return stream.getvalue()


def read(*sheets: list[list[Cell]]) -> Reading:
    return read_bank(workbook(*sheets), name="quiz.xlsx")


def keyed(question: Question) -> str:
    """Returns a question with its options, the right ones in capitals."""
    return ", ".join([question.prompt, *(o.text.upper() if o.right else o.text for o in question.options)])


def test_a_kahoot_template_is_read_below_its_advice() -> None:
    reading = read(KAHOOT)
    assert [keyed(question) for question in reading.bank.questions] == [
        "Which calls copy?, CLONE, view, REPEAT, expand",
        "Which number is even?, 3, 1, 4, 5",
        "Is a view a copy?, true, FALSE",
    ]
    assert [option.right for option in reading.bank.questions[1].options] == [False, False, True, False]
    assert [finding.message[:40] for finding in reading.findings] == ["columns not imported: `Time limit (sec) "]
    assert reading.unaccounted() == ()


def test_a_template_for_forms_is_read_with_types_and_explanations() -> None:
    reading = read(FORM)
    one, two, three = reading.bank.questions
    assert (keyed(one), one.why) == ("Which call copies?, CLONE, view, expand", "The others share memory.")
    assert keyed(two) == "Which calls share memory?, clone, VIEW, EXPAND"
    assert (three.kind, three.answered) == ("open", False)
    assert [(finding.code, finding.span.line) for finding in reading.findings] == [("Q610", 1), ("Q604", 4)]


def test_answers_of_people_are_not_questions() -> None:
    reading = read(RESPONSES)
    assert reading.bank.questions == ()
    assert [(finding.code, finding.message) for finding in reading.findings] == [
        ("Q601", "these are the answers of people to a form, not its questions")
    ]


def test_sheets_with_the_same_header_are_read_together_and_others_are_named() -> None:
    header: list[Cell] = ["Question", "Answer"]
    one: list[list[Cell]] = [header, ["What is a view?", "A tensor that shares memory."]]
    two: list[list[Cell]] = [header, ["What is a stride?", "A step in memory."]]
    other: list[list[Cell]] = [["Name", "Points"], ["Anna", 3]]
    reading = read([["Quiz"]], one, two, other)
    assert [question.prompt for question in reading.bank.questions] == ["What is a view?", "What is a stride?"]
    (finding,) = reading.findings
    assert (finding.code, finding.message) == ("Q603", "sheet 4 with 2 rows was left out")
    assert (finding.help, finding.note) == ("save it as a file of its own", "its columns differ")


QTI = """<?xml version="1.0"?>
<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><assessment ident="a" title="Views">
<section ident="s"><item ident="i" title="One"><presentation>
<material><mattext texttype="text/html">&lt;p&gt;Which call copies?&lt;/p&gt;</mattext></material>
<response_lid ident="r" rcardinality="Single"><render_choice>
<response_label ident="x"><material><mattext>view</mattext></material></response_label>
<response_label ident="y"><material><mattext>clone</mattext></material></response_label>
</render_choice></response_lid></presentation><resprocessing><respcondition>
<conditionvar><varequal respident="r">y</varequal></conditionvar><setvar action="Set">100</setvar>
</respcondition></resprocessing></item></section></assessment></questestinterop>"""


def test_a_test_exported_by_canvas_is_read_from_its_zip() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("imsmanifest.xml", "<manifest/>")
        package.writestr("g1/assessment_meta.xml", "<quiz/>")
        package.writestr("g1/g1.xml", QTI)
    reading = read_bank(stream.getvalue(), name="export.zip")
    assert [keyed(question) for question in reading.bank.questions] == ["Which call copies?, view, CLONE"]


ITEM = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-model href="https://example.org/item.rng"?>
<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="{id}" title="{id}" adaptive="false"
 timeDependent="false"><responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier">
<correctResponse><value>B</value></correctResponse></responseDeclaration><itemBody>
<choiceInteraction responseIdentifier="RESPONSE" maxChoices="1"><prompt>{asks}</prompt>
<simpleChoice identifier="A">view</simpleChoice><simpleChoice identifier="B">clone</simpleChoice>
</choiceInteraction></itemBody></assessmentItem>"""
TEST = """<?xml version="1.0"?><assessmentTest xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="t"
 title="Storage"><testPart identifier="p"><assessmentSection identifier="s" title="s" visible="true">
<assessmentItemRef identifier="q1" href="items/q1.xml"/><assessmentItemRef identifier="q2" href="items/q2.xml"/>
</assessmentSection></testPart></assessmentTest>"""


def test_the_items_of_a_content_package_are_read_from_their_files() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("imsmanifest.xml", "<manifest><resources/></manifest>")
        package.writestr("test.xml", TEST)
        package.writestr("items/q1.xml", ITEM.format(id="q1", asks="Which call copies?"))
        package.writestr("items/q2.xml", ITEM.format(id="q2", asks="Which call takes memory?"))
        package.writestr("items/picture.png", b"\x89PNG")
    reading = read_bank(stream.getvalue(), name="export.zip")
    assert reading.bank.title == "Storage"
    assert [keyed(question) for question in reading.bank.questions] == [
        "Which call copies?, view, CLONE",
        "Which call takes memory?, view, CLONE",
    ]
    assert not reading.findings


def test_a_zip_with_neither_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("notes.txt", "What is a view?")
    (finding,) = read_bank(stream.getvalue(), name="notes.zip").findings
    assert (finding.code, finding.message) == (
        "Q601",
        "the package holds neither a workbook, nor a Word document, nor H5P, nor a QTI test",
    )


def test_a_whole_number_has_no_decimals_whatever_the_spreadsheet_wrote() -> None:
    rows: list[list[Cell]] = [
        ["Question", "Option A", "Option B", "Option C", "Answer"],
        ["Which number is even?", 3.0, 4.0, -1.5, "B"],
        ["Which version is first?", "v1.0", "v2.0", "v3.0", "A"],
    ]
    questions = read_bank(workbook(rows), name="numbers.xlsx").bank.questions
    assert [[option.text for option in question.options] for question in questions] == [
        ["3", "4", "-1.5"],
        ["v1.0", "v2.0", "v3.0"],
    ]
