"""A bank as an Anki package: notes with ids that stay the same from edition to edition, programs as `<pre>`."""

from __future__ import annotations

import hashlib
import io
import itertools
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from questions.blocks import html_of
from questions.export.shown import answer_of, letters_right, tags_of
from questions.foreign.wording import fence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from questions.model import Bank, Question

FIELDS = ("Question", "Program", "Options", "Correct", "Answer", "Reasons", "Why", "Kind", "Topic", "Level", "Id")
_MODEL = 1_607_392_319
"""Anki knows our note type by this number; another would be another type."""
_STYLE = """.card { font-family: sans-serif; font-size: 18px; text-align: left; max-width: 40em; margin: auto; }
pre { background: rgba(127, 127, 127, .15); padding: .6em; overflow-x: auto; }
code { font-family: monospace; }"""
_FRONT = "{{Question}}{{Program}}{{#Options}}{{Options}}{{/Options}}"
_BACK = """{{FrontSide}}<hr id="answer">{{#Correct}}<p><b>Right: {{Correct}}</b></p>{{/Correct}}
{{Answer}}{{#Reasons}}{{Reasons}}{{/Reasons}}{{Why}}"""
_YEAR_2014 = 1_400_000_000_000
_SPREAD = 100_000_000_000
"""Ids in Anki are instants in milliseconds; ours lie in the three years from 2014."""
_ZIP_DATE = (2026, 1, 1, 0, 0, 0)


def anki_package(bank: Bank, at: float) -> bytes:
    """The questions of a bank as `.apkg`, a deck for each topic. A task keeps its starter and its reference."""
    collection = _collection(bank, at)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in (("collection.anki2", collection), ("media", b"{}")):
            package.writestr(zipfile.ZipInfo(name, _ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _collection(bank: Bank, at: float) -> bytes:
    # Imported where it is needed: whoever only reads banks need not wait for it.
    import genanki

    model = genanki.Model(
        _MODEL,
        "Dailygrad",
        fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Card", "qfmt": _FRONT, "afmt": _BACK}],
        css=_STYLE,
    )
    decks: dict[str, Any] = {}
    for question in bank.questions:
        name = "::".join(part for part in (_title(bank), *_clean(question.topic).split("/")) if part)
        deck = decks.setdefault(name, genanki.Deck(_number(name) % 2**30 + 2**30, name))
        guid = genanki.guid_for("dailygrad", _clean(bank.name), _clean(question.id))
        fields = [_clean(text) for text in _fields(question)]
        tags = [_clean(tag) for tag in tags_of(question)]
        deck.add_note(genanki.Note(model=model, fields=fields, guid=guid, tags=tags))
    with closing(sqlite3.connect(":memory:")) as connection:
        cursor = connection.cursor()
        genanki.Package(list(decks.values())).write_to_db(cursor, at, itertools.count(1))
        _fix_ids(cursor)
        connection.commit()
        return connection.serialize()


def _fix_ids(cursor: sqlite3.Cursor) -> None:
    """Give notes and cards ids made of what they are, so that the next edition has the same."""
    used: set[int] = set()
    for old, guid in cursor.execute("SELECT id, guid FROM notes ORDER BY id").fetchall():
        new = _YEAR_2014 + _number(guid) % _SPREAD
        while new in used:
            new += 1
        used.add(new)
        cursor.execute("UPDATE notes SET id = ? WHERE id = ?", (new, old))
        cursor.execute("UPDATE cards SET id = ?, nid = ? WHERE nid = ?", (new, new, old))


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def _title(bank: Bank) -> str:
    return " ".join(_clean(bank.title or bank.name).replace("::", ": ").split()) or "Dailygrad"


def _clean(text: str) -> str:
    """Without what parts fields in Anki's database, and without half characters, which no database takes."""
    return text.replace("\x1f", " ").replace("\0", "").encode("utf-8", "replace").decode()


def _fields(question: Question) -> tuple[str, ...]:
    exact = question.kind in ("value", "output") and question.answer is not None
    answer = f"<pre>{_escaped(question.answer or '')}</pre>" if exact else html_of(answer_of(question))
    points = _list(question.key_points, "ul")
    reasons = [option.reason for option in question.options]
    program = question.task.starter if question.task else question.program
    return (
        html_of(question.prompt),
        html_of(fence(program, "python")) if program else "",
        _list([option.text for option in question.options], 'ol type="A"'),
        letters_right(question),
        answer + points,
        _list(reasons, 'ol type="A"') if any(reasons) else "",
        html_of(question.why),
        question.kind,
        question.topic,
        question.level or "",
        question.id,
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _inner(markdown: str) -> str:
    """The HTML of a text, bare where it is a single paragraph."""
    found = html_of(markdown).strip()
    single = found.startswith("<p>") and found.endswith("</p>") and found.count("<p>") == 1
    return found.removeprefix("<p>").removesuffix("</p>") if single else found


def _list(texts: Iterable[str], tag: str) -> str:
    items = "".join(f"<li>{_inner(text)}</li>" for text in texts)
    return f"<{tag}>{items}</{tag.split()[0]}>" if items else ""
