"""Workbooks and packages of tests: which cells and files are read, and how large they may be."""

from __future__ import annotations

import io
import zipfile

import pytest

from questions import read_bank
from questions.formats import packages
from questions.formats.packages import Opened, UnreadablePackage, open_package
from tests.questions.formats.readings import found, read_as


def zipped(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in files.items():
            package.writestr(name, text)
    return stream.getvalue()


def sheet(*rows: str) -> str:
    return f"<worksheet><sheetData>{''.join(f'<row>{row}</row>' for row in rows)}</sheetData></worksheet>"


def opened(*sheets: str, shared: str = "", **more: str) -> Opened:
    files = {"xl/workbook.xml": "<workbook/>"}
    files |= {f"xl/worksheets/sheet{number}.xml": text for number, text in enumerate(sheets, 1)}
    if shared:
        files["xl/sharedStrings.xml"] = f"<sst>{shared}</sst>"
    return open_package(zipped({**files, **more}))


def cells(*row: str, shared: str = "") -> str:
    """Returns the first row of a workbook as CSV."""
    return opened(sheet("".join(row), "<c><v>end</v></c>"), shared=shared).text.split("\n")[0]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c t="inlineStr"><is><t> in</t><r><t>line </t></r></is></c>', "inline"),
        ('<c t="s"><v>0</v></c>', "one"),
        ('<c t="s"><v>1</v></c>', "ab"),
        ('<c t="s"><v>2</v></c>', ""),  # no such text
        ('<c t="s"><v>-1</v></c>', ""),
        ('<c t="b"><v>1</v></c>', "true"),
        ('<c t="b"><v>0</v></c>', "false"),
        ("<c><v>2.0</v></c>", "2"),
        ("<c><v>-3.0</v></c>", "-3"),
        ("<c><v>1.50</v></c>", "1.50"),
        ("<c><v>1.10.0</v></c>", "1.10.0"),
        ('<c t="str"><v>text</v></c>', "text"),
        ("<c/>", ""),
    ],
)
def test_a_cell_is_shown_as_the_spreadsheet_shows_it(cell: str, shown: str) -> None:
    shared = "<si><t>one </t></si><si><r><t>a</t></r><r><t>b</t></r></si>"
    assert cells(cell, "<c><v>x</v></c>", shared=shared) == f"{shown},x"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["A1", "B1"], "0,1"),
        (["B1", "D1"], ",0,,1"),
        (["", ""], "0,1"),
        (["C1", ""], ",,0,1"),
        (["C1", "A1"], ",,0,1"),  # never before the last cell
        (["AA1", "AB1"], "," * 26 + "0,1"),
        (["CV1", "CW1"], "," * 99 + "0"),  # at most 100 columns
    ],
)
def test_cells_stand_where_their_names_say(names: list[str], shown: str) -> None:
    assert cells(*(f'<c r="{name}"><v>{at}</v></c>' for at, name in enumerate(names))) == shown


def rows(*values: str) -> str:
    return sheet(*(f"<c><v>{value}</v></c>" for value in values))


def test_sheets_are_read_in_the_order_of_their_numbers() -> None:
    ten = {"xl/worksheets/sheet10.xml": rows("a", "ten"), "xl/worksheets/other.xml": rows("a", "other")}
    assert opened(rows("a", "one"), rows("a", "two"), **ten).text == "a\none\ntwo\nten\n"


def test_sheets_with_another_header_are_named_and_those_with_one_row_are_not() -> None:
    found = opened(rows("title"), rows("a", "one"), rows("x"), rows("x", "y", "z"), sheet("<c/>", "<c/>"))
    assert found == Opened("a\none\n", ".csv", ("sheet 4 with 3 rows",))


def test_a_workbook_without_rows_is_an_empty_table() -> None:
    assert opened(rows("a")).text == ""
    data = zipped({"xl/workbook.xml": "<workbook/>", "xl/worksheets/sheet1.xml": rows("a")})
    assert [finding.code for finding in read_bank(data, name="a.xlsx").findings] == ["Q601"]


ITEM = (
    "<?xml version='1.0'?>\n<assessmentItem><responseDeclaration><correctResponse><value>{0}</value></correctResponse>"
    "</responseDeclaration><itemBody><p>What is {0}? <textEntryInteraction/></p></itemBody></assessmentItem>"
)


@pytest.mark.parametrize("names", [["a.xml"], ["b/a.XML", "c.xml.qti"]])
def test_tests_are_read_from_every_file_in_a_package(names: list[str]) -> None:
    files = {name: ITEM.format(f"w{at}") for at, name in enumerate(names)}
    data = zipped({**files, "d.txt": ITEM.format("no"), "e.xml": "<other/>"})
    assert [text.split("? ")[0] for text in read_as("a.zip", data)] == [f"What is w{at}" for at in range(len(names))]


def test_a_package_has_a_limited_number_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.xml": ITEM.format("w"), "b.txt": "", "c.txt": ""}
    monkeypatch.setattr(packages, "_MOST_ENTRIES", 3)
    assert open_package(zipped(files)).suffix == ".xml"
    monkeypatch.setattr(packages, "_MOST_ENTRIES", 2)
    assert found(read_bank(zipped(files), name="a.zip")) == [
        "1-1 Q601 the package has more than 2 files |  | export it as text: Markdown, CSV, JSON or QTI"
    ]


def test_the_sheets_of_a_workbook_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(rows("a", "x"))
    monkeypatch.setattr(packages, "MOST_UNPACKED", 2 * size)
    assert opened(rows("a", "x"), rows("a", "y")).text == "a\nx\ny\n"
    with pytest.raises(UnreadablePackage, match="the sheets are larger than 0 MiB together"):
        opened(rows("a", "x"), rows("a", "y"), rows("a", "z"))
    monkeypatch.setattr(packages, "MOST_UNPACKED", size - 1)
    with pytest.raises(UnreadablePackage, match=r"`xl/worksheets/sheet1\.xml` is larger than 0 MiB"):
        opened(rows("a", "x"))


def test_no_more_tests_are_read_from_a_package_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{name}.xml": ITEM.format(name) for name in "abc"}
    size = len(ITEM.format("a"))
    monkeypatch.setattr(packages, "MOST_UNPACKED", size + 1)
    assert [text.split(" ")[2] for text in read_as("a.zip", zipped(files))] == ["a?", "b?"]


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (packages.MOST_UNPACKED, packages._MOST_ENTRIES, packages._MOST_COLUMNS) == (32 << 20, 2_000, 100)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04", "the package cannot be opened: File is not a zip file"),
        (
            zipped({"xl/workbook.xml": "", "xl/worksheets/sheet1.xml": "<a>"}),
            "the package holds unreadable XML: no element",
        ),
        (zipped({"a.txt": ""}), "the package holds neither a workbook, nor a Word document, nor H5P, nor a QTI test"),
    ],
)
def test_a_package_that_cannot_be_read_says_why(data: bytes, message: str) -> None:
    (finding,) = read_bank(data, name="a.xlsx").findings
    assert finding.message.startswith(message)
    assert (finding.code, finding.severity) == ("Q601", "error")
    assert finding.help == "export it as text: Markdown, CSV, JSON or QTI"


def test_cells_that_a_row_lacks_at_its_end_are_empty() -> None:
    header = "<c><v>id</v></c><c><v>content</v></c><c><v>level</v></c>"
    text = opened(sheet(header, "<c><v>1</v></c><c><v>What?</v></c>", "<c><v>2</v></c>")).text
    assert text == "id,content,level\n1,What?,\n2,,\n"
