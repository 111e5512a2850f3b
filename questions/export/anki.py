"""Writes a bank as an Anki package. The ids of notes stay the same from one export to the next."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import string
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

from questions.blocks import html_of
from questions.export.common import answer_of, letters_right, tags_of
from questions.formats.markdown import fence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from questions.model import Bank, Question


FIELDS = ("Question", "Program", "Options", "Correct", "Answer", "Reasons", "Why", "Kind", "Topic", "Level", "Id")
_MODEL = 1_607_392_319
"""Id of our note type in Anki; changing it would create another note type."""
_STYLE = """.card { font-family: sans-serif; font-size: 18px; text-align: left; max-width: 40em; margin: auto; }
pre { background: rgba(127, 127, 127, .15); padding: .6em; overflow-x: auto; }
code { font-family: monospace; }"""
_FRONT = "{{Question}}{{Program}}{{#Options}}{{Options}}{{/Options}}"
_BACK = """{{FrontSide}}<hr id="answer">{{#Correct}}<p><b>Right: {{Correct}}</b></p>{{/Correct}}
{{Answer}}{{#Reasons}}{{Reasons}}{{/Reasons}}{{Why}}"""
_LATEX = r"""\documentclass[12pt]{article}
\special{papersize=3in,5in}
\usepackage[utf8]{inputenc}
\usepackage{amssymb,amsmath}
\pagestyle{empty}
\setlength{\parindent}{0in}
\begin{document}
"""
"""Anki's default preamble, for learners who add LaTeX to a note."""
_YEAR_2014 = 1_400_000_000_000
_SPREAD = 100_000_000_000
"""Range of note ids, milliseconds. Ids in Anki are times; ours are in the three years from 2014."""
_ZIP_DATE = (2026, 1, 1, 0, 0, 0)
_BASE_91 = string.ascii_letters + string.digits + "!#$%&()*+,-./:;<=>?@[]^_`{|}~"
_DECK_OPTIONS = {
    "new": {"perDay": 20, "delays": [1, 10], "ints": [1, 4, 7], "initialFactor": 2500, "order": 1, "bury": True},
    "rev": {"perDay": 200, "ease4": 1.3, "fuzz": 0.05, "ivlFct": 1, "maxIvl": 36500, "minSpace": 1, "bury": True},
    "lapse": {"delays": [10], "mult": 0, "minInt": 1, "leechFails": 8, "leechAction": 0},
    "maxTaken": 60,
    "timer": 0,
    "autoplay": True,
    "replayq": True,
}
"""Anki's default deck options; an import does not change those of the collection."""
_SCHEMA = """
CREATE TABLE col (id integer primary key, crt integer not null, mod integer not null, scm integer not null,
    ver integer not null, dty integer not null, usn integer not null, ls integer not null, conf text not null,
    models text not null, decks text not null, dconf text not null, tags text not null);
CREATE TABLE notes (id integer primary key, guid text not null, mid integer not null, mod integer not null,
    usn integer not null, tags text not null, flds text not null, sfld integer not null, csum integer not null,
    flags integer not null, data text not null);
CREATE TABLE cards (id integer primary key, nid integer not null, did integer not null, ord integer not null,
    mod integer not null, usn integer not null, type integer not null, queue integer not null, due integer not null,
    ivl integer not null, factor integer not null, reps integer not null, lapses integer not null,
    left integer not null, odue integer not null, odid integer not null, flags integer not null, data text not null);
CREATE TABLE revlog (id integer primary key, cid integer not null, usn integer not null, ease integer not null,
    ivl integer not null, lastIvl integer not null, factor integer not null, time integer not null,
    type integer not null);
CREATE TABLE graves (usn integer not null, oid integer not null, type integer not null);
CREATE INDEX ix_notes_usn ON notes (usn);
CREATE INDEX ix_notes_csum ON notes (csum);
CREATE INDEX ix_cards_usn ON cards (usn);
CREATE INDEX ix_cards_nid ON cards (nid);
CREATE INDEX ix_cards_sched ON cards (did, queue, due);
CREATE INDEX ix_revlog_usn ON revlog (usn);
CREATE INDEX ix_revlog_cid ON revlog (cid);
"""


def anki_package(bank: Bank, at: float) -> bytes:
    """Returns the questions of a bank as `.apkg`, with a deck per topic. A task keeps its starter and its reference.

    `at` is the time of the export, in seconds since 1970: Anki updates notes imported from an earlier export.
    """
    collection = _collection(bank, int(at))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in (("collection.anki2", collection), ("media", b"{}")):
            package.writestr(zipfile.ZipInfo(name, _ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _collection(bank: Bank, at: int) -> bytes:
    """Returns the database of a package in version 11 of Anki's schema, which every version of Anki imports."""
    decks = {"Default": 1}
    notes, cards = [], []
    used: set[int] = set()
    for question in bank.questions:
        name = "::".join(part for part in (_title(bank), *_clean(question.topic).split("/")) if part)
        deck = decks.setdefault(name, _number(name) % 2**30 + 2**30)
        guid = _guid("dailygrad", _clean(bank.name), _clean(question.id))
        number = _YEAR_2014 + _number(guid) % _SPREAD
        while number in used:
            number += 1
        used.add(number)
        fields = [_clean(text) for text in _fields(question)]
        tags = "".join(f" {_clean(tag)}" for tag in tags_of(question)) + " "
        notes.append((number, guid, _MODEL, at, -1, tags, "\x1f".join(fields), fields[0], 0, 0, ""))
        cards.append((number, number, deck, 0, at, -1, *[0] * 11, ""))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        connection.execute(_insert("col", 13), _properties(decks, at))
        connection.executemany(_insert("notes", 11), notes)
        connection.executemany(_insert("cards", 18), cards)
        connection.commit()
        return connection.serialize()


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608


def _properties(decks: dict[str, int], at: int) -> tuple[int | str, ...]:
    """Returns the only row of `col`: note type and decks as JSON, and the defaults of a new collection."""
    fields = [
        {"name": name, "ord": index, "font": "Arial", "size": 20, "rtl": False, "sticky": False, "media": []}
        for index, name in enumerate(FIELDS)
    ]
    template = {"name": "Card", "ord": 0, "qfmt": _FRONT, "afmt": _BACK, "bqfmt": "", "bafmt": "", "did": None}
    model = {
        "id": _MODEL,
        "name": "Dailygrad",
        "type": 0,
        "mod": at,
        "usn": -1,
        "sortf": 0,
        "did": 1,
        "flds": fields,
        "tmpls": [template],
        "css": _STYLE,
        "latexPre": _LATEX,
        "latexPost": "\\end{document}",
        "req": [[0, "any", [0, 1, 2]]],
        "tags": [],
        "vers": [],
    }
    of_deck = {
        "mod": at,
        "usn": -1,
        "desc": "",
        "dyn": 0,
        "conf": 1,
        "collapsed": False,
        "extendNew": 0,
        "extendRev": 0,
    }
    days = {key: [0, 0] for key in ("newToday", "revToday", "lrnToday", "timeToday")}
    return (
        *(1, at, at * 1000, at * 1000, 11, 0, 0, 0),
        json.dumps({"curDeck": 1, "activeDecks": [1], "nextPos": 1, "sortType": "noteFld", "sortBackwards": False}),
        json.dumps({str(_MODEL): model}),
        json.dumps({str(number): {"id": number, "name": name, **of_deck, **days} for name, number in decks.items()}),
        json.dumps({"1": {"id": 1, "name": "Default", "mod": 0, "usn": 0, **_DECK_OPTIONS}}),
        "{}",
    )


def _guid(*values: str) -> str:
    """Returns the identity of a note in Anki's form: 64 bits in base 91."""
    number, digits = _number("__".join(values)), ""
    while number:
        number, digit = divmod(number, len(_BASE_91))
        digits = _BASE_91[digit] + digits
    return digits


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def _title(bank: Bank) -> str:
    return " ".join(_clean(bank.title or bank.name).replace("::", ": ").split()) or "Dailygrad"


def _clean(text: str) -> str:
    """Returns the text without Anki's field separator, and without NUL and lone surrogates, which SQLite refuses."""
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
    """Returns the HTML of a text, without the tag of a single paragraph."""
    found = html_of(markdown).strip()
    single = found.startswith("<p>") and found.endswith("</p>") and found.count("<p>") == 1
    return found.removeprefix("<p>").removesuffix("</p>") if single else found


def _list(texts: Iterable[str], tag: str) -> str:
    items = "".join(f"<li>{_inner(text)}</li>" for text in texts)
    return f"<{tag}>{items}</{tag.split()[0]}>" if items else ""
