"""Anki packages: those Anki itself writes, in every schema, and those it never would."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Reading, read_bank
from questions.formats import anki
from tests.questions.formats.readings import found

SCHEMA = """
CREATE TABLE col (id integer primary key, models text, decks text);
CREATE TABLE notes (id integer primary key, mid integer, tags text, flds text);
CREATE TABLE cards (id integer primary key, nid integer, did integer);
INSERT INTO col VALUES (1, '{"7": {"flds": [{"name": "Front"}, {"name": "Back"}, {"name": "Extra"}]}}',
                        '{"1": {"name": "Default"}, "5": {"name": "ML::Nets"}}');
INSERT INTO notes VALUES (1, 7, ' mid tag ', replace('What is <b>x</b>?|A <code>y</code>|why', '|', char(31)));
INSERT INTO notes VALUES (2, 9, '', replace('How many?|<p>42</p>', '|', char(31)));
INSERT INTO cards VALUES (1, 1, 5), (2, 2, 1);
"""


def collection(script: str = SCHEMA) -> bytes:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.commit()
        return connection.serialize()
    finally:
        connection.close()


def package(data: bytes, name: str = "collection.anki2", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        zipped.writestr(name, data)
        zipped.writestr("media", "{}")
    return out.getvalue()


def read(data: bytes) -> Reading:
    return read_bank(data, name="deck.apkg")


def refusal(reading: Reading) -> str:
    assert reading.bank.questions == ()
    (finding,) = reading.findings
    assert finding.severity == "error" and finding.help
    return f"{finding.code} {finding.message}"


@pytest.mark.parametrize("name", ["collection.anki2", "collection.anki21", "collection.anki21b"])
def test_notes_are_read_with_fields_decks_and_tags(name: str) -> None:
    data = collection()
    reading = read(package(zstandard.compress(data) if name.endswith("b") else data, name))
    one, two = reading.bank.questions
    assert reading.bank.dialects == ("anki",) and reading.findings == ()
    assert (one.prompt, one.answer, one.why) == ("What is **x**?", "A `y`", "why")
    assert (one.topic, one.level, one.tags, one.place.line) == ("ml/nets", "mid", ("tag",), 1)
    assert (two.kind, two.answer, two.topic, two.place.line) == ("value", "42", "", 2)
    assert reading.unaccounted() == ()


def test_a_package_is_known_by_its_content_too() -> None:
    assert read_bank(package(collection()), name="download").bank.dialects == ("anki",)


def test_the_newest_collection_of_a_package_counts() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("collection.anki2", collection(SCHEMA + "DELETE FROM notes WHERE id = 2;"))
        zipped.writestr("collection.anki21", collection())
    assert len(read(out.getvalue()).bank.questions) == 2


def test_what_anki_writes_is_read(tmp_path: Path) -> None:
    anki = pytest.importorskip("anki.collection", reason="the anki library is not installed")
    deck = anki.Collection(str(tmp_path / "collection.anki2"))
    basic, cloze = deck.models.by_name("Basic"), deck.models.by_name("Cloze")
    target = deck.decks.id("ML::Nets")
    for kind, fields in (
        (basic, ["What is <b>x</b>?", "<div>y</div>"]),
        (cloze, ["{{c1::A}} and {{c2::b::hint}}", "more"]),
    ):
        note = deck.new_note(kind)
        note.fields = fields
        note.tags = ["senior", "tag"]
        deck.add_note(note, target)
    everything = {"limit": None, "with_html": True, "with_tags": True, "with_deck": True}
    for name, legacy in (("old.apkg", True), ("new.apkg", False)):
        options = anki.ExportAnkiPackageOptions(with_scheduling=False, with_media=False, legacy=legacy)
        deck.export_anki_package(out_path=str(tmp_path / name), options=options, limit=None)
    deck.export_note_csv(out_path=str(tmp_path / "notes.txt"), with_notetype=True, with_guid=True, **everything)
    for name, legacy in (("old.colpkg", True), ("new.colpkg", False)):
        deck.export_collection_package(str(tmp_path / name), include_media=False, legacy=legacy)
        deck.reopen()
    deck.close()
    for name in ("old.apkg", "new.apkg", "old.colpkg", "new.colpkg", "notes.txt"):
        reading = read_bank((tmp_path / name).read_bytes(), name=name)
        assert [
            (question.prompt, question.answer, question.why, question.topic, question.level, question.tags)
            for question in reading.bank.questions
        ] == [
            ("What is **x**?", "y", "", "ml/nets", "senior", ("tag",)),
            ("[…] and b", "A", "more", "ml/nets", "senior", ("tag",)),
            ("A and [hint]", "b", "more", "ml/nets", "senior", ("tag",)),
        ], name
        assert not reading.findings, name


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    empty = bytes(anki.MOST_COLLECTION // 2)
    assert refusal(read(package(empty))) == "Q602 the collection unpacks to more than 400 times its size"
    packed = package(zstandard.compress(empty), "collection.anki21b", zipfile.ZIP_STORED)
    assert refusal(read(packed)) == "Q602 the collection unpacks to more than 400 times its size"
    larger = zstandard.compress(bytes(anki.MOST_COLLECTION + 1))
    assert refusal(read(package(larger, "collection.anki21b"))) == "Q602 the collection is larger than 128 MiB"


def test_a_false_size_is_detected() -> None:
    data = bytearray(package(collection()))
    central = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x01\x02"))
    data[central + 24 : central + 28] = (10).to_bytes(4, "little")
    reading = read(bytes(data))
    assert reading.bank.questions == () and reading.has_errors


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Q601 the package cannot be opened: File is not a zip file"),
        (package(b"not a database"), "Q601 the collection is not an SQLite file"),
        (package(b"x", "other"), "Q601 the package has no collection"),
        (package(collection("CREATE TABLE a (b)")), "Q601 the collection has no notes"),
        (package(b"x", "collection.anki21b"), "Q601 the collection cannot be unpacked"),
        (
            package(collection(), method=zipfile.ZIP_LZMA),
            "Q602 the collection is compressed in a way Anki does not use",
        ),
        (package(collection("CREATE VIEW notes AS SELECT 1 AS id")), "Q601 the collection has no notes"),
        (package(collection("CREATE TABLE notes (x)")), "Q601 the collection cannot be read: no such column: id"),
        (package(collection(SCHEMA + "DELETE FROM notes")), "Q601 the package has no notes"),
    ],
    ids=["empty", "text", "other", "tables", "zstd", "lzma", "view", "columns", "no-notes"],
)
def test_an_invalid_package_is_rejected_with_a_reason(data: bytes, message: str) -> None:
    assert refusal(read(data)).startswith(message)


ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "


@pytest.mark.parametrize(
    "script",
    [
        # A view in the place of a table, which would never end.
        SCHEMA.replace("CREATE TABLE cards (id integer primary key, nid integer, did integer);", "").replace(
            "INSERT INTO cards VALUES (1, 1, 5), (2, 2, 1);",
            f"CREATE VIEW cards AS {ENDLESS} x AS nid, x AS did FROM t;",
        ),
        # A trigger, which reading cannot set off.
        SCHEMA + "CREATE TRIGGER a AFTER INSERT ON notes BEGIN DELETE FROM notes; END;",
        # A virtual table, and one that is computed as it is read.
        SCHEMA + "CREATE VIRTUAL TABLE decks USING fts5(id, name);",
    ],
    ids=["view", "trigger", "virtual"],
)
def test_nothing_in_a_schema_is_run(script: str) -> None:
    assert len(read(package(collection(script))).bank.questions) == 2


def test_a_table_that_computes_forever_is_given_up() -> None:
    script = """
    CREATE TABLE notes (id integer primary key, mid integer, tags text,
        flds text GENERATED ALWAYS AS (hex(zeroblob(1000000)) || hex(zeroblob(1000000))) VIRTUAL);
    INSERT INTO notes (id, mid, tags) VALUES (1, 1, '');
    """
    reading = read(package(collection(script)))
    assert reading.bank.questions == () and [finding.code for finding in reading.findings] in (["Q601"], ["Q603"])


DATA = collection()


@settings(max_examples=120)
@given(st.lists(st.tuples(st.integers(16, len(DATA) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_a_damaged_collection_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DATA)
    for place, value in changes:
        data[place] = value
    reading = read(package(bytes(data)))
    assert reading.bank.questions or reading.findings
    assert reading.unaccounted() == ()


ZIP = package(DATA)


@settings(max_examples=120)
@given(st.lists(st.tuples(st.integers(0, len(ZIP) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_package_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(ZIP)
    for place, value in changes:
        data[place] = value
    reading = read(bytes(data))
    assert reading.bank.questions or reading.findings


# Notes of each schema


def notes(*rows: str, models: str = "", decks: str = "", cards: str = "", tags: str = "") -> bytes:
    """Returns a package of the older schema; `|` separates the fields of a note."""
    script = f"""
    CREATE TABLE col (id integer, models text, decks text);
    CREATE TABLE notes (id integer, mid integer, tags text, flds text);
    CREATE TABLE cards (id integer, nid integer, did integer);
    INSERT INTO col VALUES (1, '{models}', '{decks}');
    {f"INSERT INTO cards VALUES {cards};" if cards else ""}
    """
    for number, row in enumerate(rows, 1):
        script += f"INSERT INTO notes VALUES ({number}, 7, '{tags}', replace('{row}', '|', char(31)));"
    return package(collection(script))


@pytest.mark.parametrize(
    ("models", "why"),
    [
        ('{"7": {"flds": [{"name": "Front"}, {"name": "Back"}, {"name": "Extra"}]}}', "because"),
        ('{"7": {"flds": [{"name": "Front"}, {"name": "Back"}]}}', ""),
        ('{"8": {"flds": [{"name": "Front"}, {"name": "Back"}, {"name": "Extra"}]}}', ""),
        ('{"7": {"flds": 3}}', ""),
        ('{"7": 3}', ""),
        ("[7]", ""),
        ("broken", ""),
        ("", ""),
    ],
)
def test_fields_have_the_names_of_their_note_type(models: str, why: str) -> None:
    reading = read(notes("What?|it|because", models=models))
    (question,) = reading.bank.questions
    assert (question.prompt, question.answer, question.why) == ("What?", "it", why)
    unnamed = "1-1 Q610 fields not imported: field 3 (no name) |  | merge them into other fields"
    assert found(reading) == ([] if why else [unnamed])


def test_a_field_of_options_holds_no_answer() -> None:
    models = '{"7": {"flds": [{"name": "Question"}, {"name": "Options"}]}}'
    (question,) = read(notes("Which copies?|clone;view", models=models)).bank.questions
    assert (question.prompt, question.answer) == ("Which copies?\n\n- clone\n- view", None)


@pytest.mark.parametrize(
    ("decks", "cards", "topic"),
    [
        ('{"5": {"name": "A::B"}}', "(1, 1, 5)", "a/b"),
        ('{"5": {"name": "A::B"}, "6": {"name": "C"}}', "(1, 1, 5), (2, 1, 6)", "a/b"),  # that of the first card
        ('{"5": {"name": "Default"}}', "(1, 1, 5)", ""),
        ('{"5": 3}', "(1, 1, 5)", ""),
        ('{"5": {"name": "A"}}', "(1, 2, 5)", ""),
        ('{"5": {"name": "A"}}', "(1, 1, 6)", ""),
        ("[]", "(1, 1, 5)", ""),
    ],
)
def test_the_deck_of_the_first_card_is_the_topic(decks: str, cards: str, topic: str) -> None:
    (question,) = read(notes("What?|it", decks=decks, cards=cards)).bank.questions
    assert question.topic == topic


def test_the_newer_schema_names_fields_in_their_order() -> None:
    script = """
    CREATE TABLE notes (id integer, mid integer, tags text, flds text);
    CREATE TABLE cards (id integer, nid integer, did integer);
    CREATE TABLE fields (ntid integer, ord integer, name text);
    CREATE TABLE decks (id integer, name text);
    INSERT INTO fields VALUES (7, 2, 'Question'), (8, 0, 'X'), (7, 0, 'Extra'), (7, 1, 'Answer');
    INSERT INTO decks VALUES (5, 'A' || char(31) || 'B');
    INSERT INTO notes VALUES (1, 7, ' x ', replace('because|it|What?', '|', char(31))), (2, 7, NULL, NULL);
    INSERT INTO cards VALUES (1, 1, 5);
    """
    reading = read(package(collection(script)))
    (question,) = reading.bank.questions
    assert (question.prompt, question.answer, question.why) == ("What?", "it", "because")
    assert (question.topic, question.section, question.tags) == ("a/b", ("A::B",), ("x",))
    assert reading.bank.title == "deck"
    assert found(reading) == [
        "2-2 Q603 this note has fewer than two fields | it was left out | add a question and an answer"
    ]


def test_the_first_filled_fields_ask_and_answer() -> None:
    reading = read(notes("|What?||it|", "one||", tags="leech x marked"))
    (question,) = reading.bank.questions
    assert (question.prompt, question.answer, question.tags) == ("What?", "it", ("x",))
    assert [finding.span.line for finding in reading.findings] == [2]


def test_a_line_of_a_package_shows_the_fields_of_a_note() -> None:
    reading = read(notes("What  is\nit?|a <b>view</b>"))
    assert reading.source.lines == ("What is it?\ta <b>view</b>",)


@pytest.mark.parametrize(("count", "read_whole"), [(3, True), (4, False)])
def test_a_collection_has_a_limited_number_of_notes(
    count: int, read_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anki, "_MOST_NOTES", 3)
    reading = read(notes(*(f"What is {number}?|it" for number in range(count))))
    assert len(reading.bank.questions) == (3 if read_whole else 0)
    many = "1-1 Q601 the collection has more than 3 notes |  | export the deck again as .apkg"
    assert found(reading) == ([] if read_whole else [many])


@pytest.mark.parametrize(("gaps", "asked"), [(40, 40), (41, 0)])
def test_a_note_has_at_most_40_gaps(gaps: int, asked: int) -> None:
    reading = read(notes(" ".join(f"{{{{c{number}::w{number}}}}}" for number in range(1, gaps + 1))))
    assert len(reading.bank.questions) == asked
    many = "1-1 Q603 this note has more than 40 gaps | it was left out | split it"
    assert found(reading) == ([] if asked else [many])


def test_the_limits_of_packages_are_those_of_the_documentation() -> None:
    assert (anki.MOST_PACKAGE, anki.MOST_COLLECTION, anki.MOST_RATIO) == (256 << 20, 128 << 20, 400)


def test_a_package_that_is_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = notes("What?|it")
    monkeypatch.setattr(anki, "MOST_PACKAGE", len(data))
    assert len(read(data).bank.questions) == 1
    monkeypatch.setattr(anki, "MOST_PACKAGE", len(data) - 1)
    assert found(read(data)) == [
        "1-1 Q602 the package is larger than 0 MiB | nothing was imported "
        "| export the deck again without media, or in smaller parts"
    ]


def test_a_line_break_in_a_topic_or_a_level_separates_words() -> None:
    models = '{"7": {"flds": [{"name": "Question"}, {"name": "Answer"}, {"name": "Topic"}, {"name": "Level"}]}}'
    (question,) = read(notes("What?|it|A<br>B &amp; C|&nbsp;<b>senior</b>", models=models)).bank.questions
    assert (question.topic, question.level) == ("a-b-c", "senior")


def test_a_package_takes_no_recipe() -> None:
    reading = read_bank(notes("What?|it"), name="deck.apkg", recipe="prompt: a\nanswer: b")
    assert reading.bank.questions == () and reading.bank.title == "deck"
    assert found(reading) == [
        "1-1 Q009 the recipe cannot be used: this document is in the format anki, "
        "which says itself where the questions are |  | leave out the recipe"
    ]


def test_lines_with_a_tab_below_a_comment_are_notes_in_markdown() -> None:
    fronts = ["What is a view?", "What is a stride?", "What is a leaf?", "What does `cat` do?", "What is a hook?"]
    fronts += [f"{front[:-1]} in short?" for front in fronts]
    cards = "".join(f"[Beginner] {front}\tIt is **not** a `list<object>` of {front}\n" for front in fronts)
    reading = read_bank(f"# Tensors\n# Format: front and back\n\n{cards}# Graphs\nWhat is a root?\n", name="t.txt")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (f"[Beginner] {front}", f"It is **not** a `list<object>` of {front}") for front in fronts
    ]
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q603", 15)]


def test_numbers_with_a_tab_below_a_comment_are_no_notes() -> None:
    rows = "".join(f"{140 + n}\t{76 + n % 3}\n" for n in range(12))
    assert read_bank(f"# Heights\n{rows}", name="heights.csv").bank.questions == ()
