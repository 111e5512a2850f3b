"""Brings decks of Anki, as add-ons export them to JSON, to records: notes with names of fields, and a record for each
gap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.anki import gap_cards
from questions.formats.data.shapes import mappings_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES = ("Front", "Back")
"""Names of the fields of notes whose types are in another file."""
NOTE_TEXT = "anki note text"
"""Name of the field with the text that a question with a gap was made of."""
_TAG = re.compile(r"<[^<>]*>|&nbsp;|\s")


def with_named_notes(data: Any) -> Any:
    """Returns a deck of notes with the fields of each note by their names, and those of decks in it alike; so are notes
    alone. Other data stays as it is."""
    names: dict[Any, list[str]] = {}
    if isinstance(data, list) and data and all(isinstance(one, dict) and one.get("__type__") == "Note" for one in data):
        return [named for note in data for named in _named_note(note, _NAMES)]
    if not isinstance(data, dict) or data.get("__type__") != "Deck":
        return data
    waiting, notes = [data], []
    while waiting:
        deck = waiting.pop()
        for model in mappings_in(deck.get("note_models")):
            names[model.get("crowdanki_uuid")] = [str(field.get("name")) for field in mappings_in(model.get("flds"))]
        notes += mappings_in(deck.get("notes"))
        waiting += reversed(mappings_in(deck.get("children")))
    return [named for note in notes for named in _named_note(note, names.get(note.get("note_model_uuid"), []))]


def _named_note(note: dict[Any, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yields the fields of a note by their names, or the question of each of its gaps; nothing for other notes."""
    fields = note.get("fields")
    if (
        not isinstance(fields, list)
        or not fields
        or len(fields) != len(names)
        or not all(isinstance(one, str) for one in fields)
    ):
        return
    tags = note.get("tags")
    beside = {"tags": tags if isinstance(tags, list) else []}
    cards = gap_cards(fields[0])
    for prompt, hidden in cards:
        why = "\n\n".join(one for one in fields[1:] if len(one.split()) > 1)
        explained = {"explanation": why} if why else {}
        yield {"question": prompt, "answer": hidden, **explained, NOTE_TEXT: fields[0], **beside}
    # A front of nothing but pictures asks nothing here.
    if not cards and _TAG.sub("", fields[0]):
        yield {**dict(zip(names, fields, strict=True)), **beside}
