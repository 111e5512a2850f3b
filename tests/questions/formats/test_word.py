"""Word documents as Markdown: what runs, styles, lists and tables become."""

from __future__ import annotations

import io
import zipfile

import pytest

from questions.formats.packages import open_package

BOLD, ITALIC, UNDERLINED = "<w:b/>", "<w:i/>", '<w:u w:val="single"/>'


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def item(text: str, number: str, level: str = "0") -> str:
    return paragraph(run(text), properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def markdown(*body: str, styles: str = "", numbering: str = "") -> str:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:body>{"".join(body)}</w:body></w:document>')
        if styles:
            package.writestr("word/styles.xml", f'<w:styles xmlns:w="w">{styles}</w:styles>')
        if numbering:
            package.writestr("word/numbering.xml", f'<w:numbering xmlns:w="w">{numbering}</w:numbering>')
    opened = open_package(stream.getvalue())
    assert (opened.suffix, opened.unread) == (".md", ())
    return opened.text.removesuffix("\n")


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        ([run("a ", BOLD), run("b", BOLD)], "**a b**"),  # runs that look the same are marked once
        ([run("a", BOLD), run(" "), run("b", BOLD)], "**a b**"),
        ([run("a "), run("b", ITALIC), run(" c", UNDERLINED)], "a *b* **c**"),
        ([run("a", BOLD + ITALIC)], "**a**"),
        ([run("  a  ", BOLD), run("b")], "**a**  b"),
        ([run("a", '<w:b w:val="0"/>')], "a"),
        ([run("a", '<w:b w:val="false"/>')], "a"),
        ([run("a", '<w:i w:val="off"/>')], "a"),
        ([run("a", '<w:u w:val="none"/>')], "a"),
        ([run("a", '<w:b w:val="true"/>')], "**a**"),
        ([run("2*3", BOLD)], "2*3"),  # marks of its own
        ([run("&lt;b> &lt;3 &lt;/x &lt;!--")], "\\<b> <3 \\</x \\<!--"),
        (["<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:cr/><w:t>c</w:t></w:r>"], "a\nb\nc"),
        (["<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:pict/></w:r>"], "a b-"),
        (["<w:r><w:t>a</w:t></w:r>"], "a"),  # without properties
        ([f"<w:hyperlink>{run('link')}</w:hyperlink><w:ins>{run(' new')}</w:ins>"], "link new"),
        ([f"a<w:del>{run('gone')}</w:del>", run("kept")], "kept"),
        ([run(" ")], ""),
    ],
)
def test_the_look_of_runs_is_kept(runs: list[str], shown: str) -> None:
    assert markdown(paragraph(*runs)) == shown


def test_paragraphs_also_stand_in_containers() -> None:
    inside = f"<w:sdt><w:sdtContent>{paragraph(run('two'))}</w:sdtContent></w:sdt>"
    assert markdown(paragraph(run("one")), inside, "<w:sectPr/>", paragraph(), paragraph(run("three"))) == (
        "one\n\ntwo\n\nthree"
    )


@pytest.mark.parametrize("name", ["sdt", "sdtContent", "ins", "hyperlink", "smartTag"])
def test_runs_in_a_container_are_read(name: str) -> None:
    assert markdown(paragraph(run("a"), f"<w:{name}>{run('b')}</w:{name}>")) == "ab"


def test_styles_with_english_names_are_headings() -> None:
    names = {"T": "Title", "H3": "Heading 3", "H7": "heading 7", "N": "Normal"}
    styles = "".join(f'<w:style w:styleId="{id}"><w:name w:val="{name}"/></w:style>' for id, name in names.items())
    body = [paragraph(run(f"a  {id}", BOLD), properties=f'<w:pStyle w:val="{id}"/>') for id in (*names, "other")]
    assert markdown(*body, styles=styles) == "# a T\n\n### a H3\n\n**a  H7**\n\n**a  N**\n\n**a  other**"
    assert markdown(*body[:1]) == "**a  T**"


def level(depth: str, form: str, start: str = "") -> str:
    begins = f'<w:start w:val="{start}"/>' if start else ""
    return f'<w:lvl w:ilvl="{depth}">{begins}<w:numFmt w:val="{form}"/></w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="1">{level("0", "decimal", "3")}{level("1", "lowerLetter")}'
    f"{level('x', 'decimal')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="2">{level("0", "upperLetter", "26")}{level("1", "none", "99999")}'
    f"{level('2', 'decimal', '99999')}{level('3', 'decimal', '9999')}</w:abstractNum>"
    '<w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="6"><w:abstractNumId w:val="2"/></w:num>'
)


def numbered(*items: str) -> list[str]:
    return markdown(*items, numbering=NUMBERING).split("\n")


def test_items_are_numbered_and_a_deeper_list_begins_again() -> None:
    items = [item("a", "5"), item("b", "5", "1"), item("c", "5", "1"), item("d", "5"), item("e", "5", "1")]
    assert numbered(*items) == ["3. a", "    - A) b", "    - B) c", "4. d", "    - A) e"]


def test_a_list_goes_on_after_a_paragraph() -> None:
    assert numbered(item("a", "5"), paragraph(run("text")), item("b", "5")) == ["3. a", "", "text", "", "4. b"]


def test_letters_end_with_z() -> None:
    assert numbered(item("a", "6"), item("b", "6")) == ["- Z) a", "27. b"]


@pytest.mark.parametrize(
    ("number", "depth", "shown"),
    [
        ("6", "1", "    - a"),  # no numbers
        ("6", "2", "        1. a"),  # a start that is too large
        ("6", "3", "            9999. a"),
        ("9", "0", "- a"),  # a list that the document does not define
        ("0", "0", "a"),  # no list
        ("5", "10", "3. a"),  # no level
        ("5", "x", "3. a"),
    ],
)
def test_other_items_are_shown_as_lists_too(number: str, depth: str, shown: str) -> None:
    assert numbered(item("a", number, depth)) == [shown]


def test_lines_of_an_item_stay_in_it() -> None:
    lines = "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>"
    properties = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="5"/></w:numPr>'
    found = numbered(
        paragraph(lines, properties=properties.format(0)), paragraph(lines, properties=properties.format(1))
    )
    assert found == ["3. a", "    b", "    - A) a", "        b"]


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


def test_a_table_has_a_header_and_full_rows() -> None:
    two = paragraph(run("c")) + paragraph(run("d"))
    table = f"<w:tbl>{row(paragraph(run('a|b')), two)}{row(paragraph(run('e')))}</w:tbl>"
    assert markdown(paragraph(run("x")), table, paragraph(run("y"))) == (
        "x\n\n| a\\|b | c<br>d |\n| --- | --- |\n| e |  |\n\ny"
    )


def test_a_table_with_one_column_is_a_frame_around_text() -> None:
    table = (
        f"<w:tbl>{row(paragraph(run('a')) + paragraph(run('b')))}{row(paragraph())}{row(paragraph(run('c')))}</w:tbl>"
    )
    assert markdown(table) == "a\n\nb\n\nc"
    assert markdown("<w:tbl></w:tbl>", paragraph(run("x"))) == "x"


def broken(*texts: str) -> str:
    breaks = [item(text.replace("\n", "</w:t><w:br/><w:t>"), "7") for text in texts]
    levels = '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
    numbers = f'<w:abstractNum w:abstractNumId="3">{levels}</w:abstractNum>'
    return markdown(*breaks, numbering=f'{numbers}<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num>')


def test_an_answer_behind_a_line_break_in_a_numbered_question_is_parted_from_it() -> None:
    shown = broken(
        "What is a view of it\nIt shares memory.\nNo copy;",
        "What is a leaf of it\nOutline is a leaf.",
        "What is copied here\nAll.",
    )
    assert shown == (
        "1. What is a view of it\n\n    It shares memory.\n    No copy;\n"
        "2. What is a leaf of it\n\n    Outline is a leaf.\n3. What is copied here\n\n    All."
    )


@pytest.mark.parametrize(
    "below",
    ["a) a view", "What does it print?", "x = zeros(3);", "It is ___ here.", "Explain your answer in one sentence."],
)
def test_a_prompt_that_goes_on_behind_a_line_break_stays_whole(below: str) -> None:
    texts = [f"What is {name} in this case\n{below}" for name in ("a view", "a leaf", "a copy")]
    assert "\n\n" not in broken(*texts)
    assert "\n\n" not in broken(*(f"{name}\nIt is short." for name in ("Views", "Leaves", "Copies")))
