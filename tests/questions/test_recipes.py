"""Recipes: an author states how questions are written, by command, in the front matter or beside the document."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from questions import read_bank
from questions.cli import bank_command
from questions.export import export_bank
from questions.patterns.recipes import match_line
from questions.recipes import ANSWERING, ASKING, COLUMNS, InvalidRecipe, Recipe, parse_pattern, parse_recipe

TEXT = """@@ 1 -- Which is even?

A) one
B) two

=> B

@@ 2 -- State the law

=> It holds.
Always.
"""
PATTERNS = 'question: "@@ {n} -- {prompt}"\nanswer: "=> {key}"'
TABLE = """Nr;Aufgabe;Links;Mitte;Rechts;Wahl;Anmerkung
1;Wie viele Achsen hat ein Skalar;keine;eine;zwei;A;Ein Skalar hat keine.
2;Welche Zahl ist gerade;drei;vier;fünf;B;
"""
COLUMN_LINES = "prompt: Aufgabe\noptions: Links, Mitte, Rechts\nkey: Wahl\nwhy: Anmerkung"
DATA = json.dumps(
    [
        {"aufgabe": "Wie viele Achsen hat ein Skalar", "liste": ["keine", "eine"], "loesung": "keine"},
        {"aufgabe": "Welche Zahl ist gerade", "liste": ["drei", "vier"], "loesung": "vier"},
        {"aufgabe": "Ohne Lösung", "liste": ["drei", "vier"]},
    ]
)


def test_a_recipe_reads_what_no_pattern_explains() -> None:
    assert read_bank(TEXT, name="a.md").answered == 0
    reading = read_bank(TEXT, name="a.md", recipe=PATTERNS)
    one, two = reading.bank.questions
    assert (one.number, one.prompt, [option.right for option in one.options]) == ("1", "Which is even?", [False, True])
    assert (two.prompt, two.answer) == ("State the law", "It holds.\nAlways.")
    assert reading.explanation == ("2 questions by the recipe `@@ {n} -- {prompt}`, answered by `=> {key}`",)
    assert reading.unaccounted() == ()
    assert reading.bank.recipe == PATTERNS


@pytest.mark.parametrize(
    "front",
    [
        PATTERNS,
        "recipe:\n  " + PATTERNS.replace("\n", "\n  "),
        "recipe: |\n  " + PATTERNS.replace("\n", "\n  "),
        "bank: mine\nrecipe: {question: '@@ {n} -- {prompt}', answer: '=> {key}'}",
    ],
)
def test_the_front_matter_states_a_recipe(front: str) -> None:
    reading = read_bank(f"---\n{front}\n---\n\n{TEXT}", name="a.md")
    assert (reading.answered, reading.bank.recipe) == (2, PATTERNS)


def _table() -> bytes:
    """Returns the table as a workbook."""
    rows = [line.split(";") for line in TABLE.splitlines()]
    cells = [[f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row] for row in rows]
    sheet = "".join(f"<row>{''.join(row)}</row>" for row in cells)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{space}"><sheets/></workbook>')
        archive.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{space}"><sheetData>{sheet}</sheetData></worksheet>'
        )
    return buffer.getvalue()


MARKDOWN = "\n".join(
    [
        "# Fragen",
        "",
        *(f"| {' | '.join(line.split(';')[:6])} |" for line in TABLE.splitlines()[:1]),
        f"|{'---|' * 6}",
        *(f"| {' | '.join(line.split(';')[:6])} |" for line in TABLE.splitlines()[1:]),
    ]
)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.csv", TABLE, COLUMN_LINES),
        ("a.tsv", TABLE.replace(";", "\t"), COLUMN_LINES.replace(": ", " = ")),
        ("a.txt", TABLE, COLUMN_LINES),
        ("a.xlsx", _table(), COLUMN_LINES),
        ("a.md", MARKDOWN, COLUMN_LINES.removesuffix("\nwhy: Anmerkung")),
    ],
)
def test_a_recipe_names_the_columns_of_a_table(name: str, text: str | bytes, lines: str) -> None:
    assert read_bank(text, name=name).answered == 0
    reading = read_bank(text, name=name, recipe=lines)
    assert [finding.message for finding in reading.findings if finding.severity == "error"] == []
    assert [question.prompt for question in reading.bank.questions] == [
        "Wie viele Achsen hat ein Skalar",
        "Welche Zahl ist gerade",
    ]
    rights = [[option.text for option in question.options if option.right] for question in reading.bank.questions]
    assert rights == [["keine"], ["vier"]]
    assert reading.explanation[0].startswith(
        "2 questions by the recipe prompt from `Aufgabe`, options from `Links`, `Mitte`"
    )
    assert reading.bank.recipe and parse_recipe(reading.bank.recipe) == parse_recipe(lines)
    if name != "a.md":
        assert reading.bank.questions[0].why == "Ein Skalar hat keine."


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.yaml"])
def test_a_recipe_names_the_fields_of_data(name: str) -> None:
    text = DATA if name != "a.jsonl" else "\n".join(json.dumps(one) for one in json.loads(DATA))
    if name == "a.yaml":
        text = "fragen:\n" + "".join(
            f"- aufgabe: {one['aufgabe']}\n  liste: {json.dumps(one['liste'])}\n"
            + (f"  loesung: {one['loesung']}\n" if "loesung" in one else "")
            for one in json.loads(DATA)
        )
    assert read_bank(text, name=name).answered == 0
    reading = read_bank(text, name=name, recipe="prompt: aufgabe\noptions: liste\nkey: loesung")
    assert [[one.text for one in question.options if one.right] for question in reading.bank.questions] == [
        ["keine"],
        ["vier"],
        [],
    ]
    assert (reading.answered, reading.unanswered) == (2, 1)


def test_columns_that_the_recipe_does_not_name_keep_their_meaning() -> None:
    text = "Frage;Antwort;Text;Level\nfalsch;ja;Ist das wahr?;mid\n"
    (question,) = read_bank(text, name="a.csv", recipe="prompt: Text").bank.questions
    assert (question.prompt, question.answer, question.level) == ("Ist das wahr?", "ja", "mid")


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.md"])
def test_a_column_that_is_missing_is_named_with_the_one_that_was_meant(name: str) -> None:
    text = {"a.csv": TABLE, "a.json": DATA, "a.md": MARKDOWN}[name]
    reading = read_bank(text, name=name, recipe="prompt: Aufgaben")
    (finding,) = [one for one in reading.findings if one.severity == "error"]
    assert finding.code == "Q009" and "there is no column `Aufgaben` for `prompt`" in finding.message
    assert finding.help == f"did you mean `{'aufgabe' if name == 'a.json' else 'Aufgabe'}`?"


NATIVE = "---\nbank: ours\n---\n\n# tensors\n\n## a · value · mid\n\nWhat is 1 + 1?\n\n### Answer\n\n`2`\n"


@pytest.mark.parametrize(
    ("name", "text", "recipe", "line", "said"),
    [
        ("a.md", NATIVE, PATTERNS, 7, "Dailygrad's own format"),
        ("a.gift", "::a:: Why? { =yes ~no }\n", PATTERNS, 1, "the format gift"),
        ("a.csv", TABLE, PATTERNS, 1, "has columns, and the recipe has patterns"),
        ("a.json", DATA, PATTERNS, 1, "has columns, and the recipe has patterns"),
        ("a.md", "# Text\n\nOnly text.\n", "prompt: Frage", 1, "no table"),
        ("a.md", TEXT, 'question: "Nowhere {n}: {prompt}"', 1, "no line outside programs matches the pattern of a"),
        ("a.md", "", PATTERNS, 1, "no line outside programs matches the pattern of a question"),
        ("a.md", MARKDOWN, "prompt: Aufgabe\nwhy: Nr", 1, "`why` is not read from tables of Markdown"),
    ],
)
def test_a_recipe_that_has_no_effect_is_refused(name: str, text: str, recipe: str, line: int, said: str) -> None:
    reading = read_bank(text, name=name, recipe=recipe)
    (finding,) = [one for one in reading.findings if one.code == "Q009"]
    assert reading.has_errors and said in finding.message and finding.span.line == line and finding.help


@pytest.mark.parametrize(
    ("lines", "said", "cure"),
    [
        ("promt: Frage", "`promt` is not a part of a recipe", "did you mean `prompt`?"),
        ("prompt: A\nprompt: B", "`prompt` appears twice", ""),
        ("key: B", "does not say where the question is", ""),
        ("question: '{n}. {promt}'", "`{promt}` is not a field here", "did you mean `{prompt}`?"),
        ("question: '{prompt} {prompt}'", "appears twice", ""),
        ("question: '{n}{prompt}'", "two fields need text between them", ""),
        ("question: '{title}'", "needs `{prompt}` or `{n}`", ""),
        ("question: 'Frage'", "has no field", ""),
        ("question: '{prompt}'\nkey: B", "`question` is a pattern, and `key` names a column", ""),
        (f"question: '{'x' * 300} {{n}}'", "longer than 200 characters", ""),
        ("x" * 3000, "longer than 2,000 characters", ""),
        ("prompt:", "`prompt` is empty", ""),
        ("no colon", "has no name and colon", ""),
        ("options: " + ",".join(f"o{n}" for n in range(30)) + "\nprompt: a", "too many columns", ""),
    ],
)
def test_a_recipe_that_cannot_be_read_says_why(lines: str, said: str, cure: str) -> None:
    with pytest.raises(InvalidRecipe) as raised:
        parse_recipe(lines)
    assert said in str(raised.value) and cure in raised.value.cure
    (finding,) = read_bank(TEXT, name="a.md", recipe=lines).findings
    assert (finding.code, finding.severity) == ("Q009", "error") and said in finding.message


@given(st.text(), st.sampled_from(["a.md", "a.csv", "a.json", "a.gift"]))
def test_any_text_is_a_recipe_or_an_error(text: str, name: str) -> None:
    reading = read_bank(DATA if name == "a.json" else TABLE, name=name, recipe=text)
    assert not text.strip() or reading.bank.recipe or reading.has_errors


_NAMES = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)


@given(st.dictionaries(st.sampled_from(COLUMNS), _NAMES), st.lists(_NAMES, min_size=1, max_size=5))
def test_a_recipe_reads_back_as_it_was_written(names: dict[str, str], options: list[str]) -> None:
    pairs = {**{part: (name,) for part, name in names.items()}, "options": tuple(options), "prompt": ("Frage",)}
    recipe = Recipe(columns=tuple(sorted(pairs.items(), key=lambda pair: COLUMNS.index(pair[0]))))
    if len(recipe.text) <= 2000:
        assert parse_recipe(recipe.text) == recipe


@pytest.mark.parametrize(
    "lines", [PATTERNS, 'prompt: "Frage, die zweite"\noptions: "A", "B, oder C"\nkey: "Lösung: {x}"']
)
@pytest.mark.parametrize("format", ["markdown", "json", "gift"])
def test_a_recipe_travels_with_the_export(lines: str, format: str) -> None:
    suffixes = {"markdown": ".md", "json": ".json", "gift": ".gift"}
    bank = dataclasses.replace(read_bank(TEXT, name="a.md", recipe=PATTERNS).bank, recipe=parse_recipe(lines).text)
    again = read_bank(export_bank(bank, format), name=f"b{suffixes[format]}")  # type: ignore[arg-type]
    assert again.bank.recipe == bank.recipe == lines
    assert "Q009" not in {finding.code for finding in again.findings}
    assert len(again.bank.questions) == 2


def test_fields_end_at_the_first_text_that_follows_them() -> None:
    pattern = parse_pattern("### {n}. {title}: {prompt}", ASKING)
    assert match_line("###  7. Views:  Why: so?", pattern) == {"n": "7", "title": "Views", "prompt": "Why: so?"}
    assert match_line("### x. Views: Why?", pattern) is None
    assert match_line("=> B", parse_pattern("=> {key}", ANSWERING)) == {"key": "B"}


def test_commands_take_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT, "utf-8")
    (tmp_path / "b.csv").write_text(TABLE, "utf-8")
    patterns = ["--question", "@@ {n} -- {prompt}", "--answer", "=> {key}"]
    columns = [word for line in COLUMN_LINES.splitlines() for word in ("--recipe", line)]
    for name, options in (("a.md", patterns), ("b.csv", columns)):
        result = CliRunner().invoke(bank_command, ["check", str(tmp_path / name), *options])
        assert result.exit_code == 0 and "2 questions by the recipe" in result.stdout
        out = tmp_path / "out.json"
        result = CliRunner().invoke(bank_command, ["export", "json", str(tmp_path / name), "-o", str(out), *options])
        assert result.exit_code == 0 and read_bank(out.read_bytes(), name="out.json").bank.recipe


def test_a_command_refuses_a_recipe_for_the_own_format(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(NATIVE, "utf-8")
    for command in (["check"], ["export", "json"]):
        result = CliRunner().invoke(bank_command, [*command, str(tmp_path / "a.md"), "--question", "{n}. {prompt}"])
        said = " ".join(result.output.split())
        assert result.exit_code == 1 and "a.md:7" in said and "own format" in said and "leave out the recipe" in said


def test_a_recipe_lies_beside_its_document(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(TABLE, "utf-8")
    (tmp_path / "b.csv.recipe").write_text(f"# Our table\n{COLUMN_LINES}\n", "utf-8")
    result = CliRunner().invoke(bank_command, ["check", str(tmp_path)])
    assert result.exit_code == 0 and "total: 1 document, 2 answered" in result.stdout
    (tmp_path / "b.csv.recipe").write_text("promt: x\n", "utf-8")
    assert "did you mean `prompt`?" in CliRunner().invoke(bank_command, ["check", str(tmp_path)]).stdout
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.csv").write_text(TABLE, "utf-8")
    (elsewhere / "b.csv.recipe").symlink_to(tmp_path / "b.csv.recipe")
    assert "did you mean" not in CliRunner().invoke(bank_command, ["check", str(elsewhere)]).stdout


def test_an_empty_folder_and_a_picture_are_no_success(tmp_path: Path) -> None:
    assert CliRunner().invoke(bank_command, ["check", str(tmp_path)]).exit_code == 2
    (tmp_path / "a.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    result = CliRunner().invoke(bank_command, ["check", str(tmp_path / "a.md")])
    assert result.exit_code == 1 and "this is a PNG picture" in result.stdout
