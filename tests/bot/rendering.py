"""What the tests of both chats' bodies share: cards, any text in them, and the schemas bodies are held against."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bot.core import cards
from bot.core.cards import (
    Button,
    Card,
    Code,
    Form,
    Lettered,
    Link,
    Options,
    PickField,
    Picture,
    Small,
    Table,
    Text,
    TextField,
)
from tests.bot.hostile import ANY_MARKDOWN, MARKDOWN
from tests.bot.samples import GALLERY, PNG
from tests.external import DISCORD_API

CARDS = {name: said for name, said in GALLERY.items() if isinstance(said, Card)}
FORMS = {name: said for name, said in GALLERY.items() if isinstance(said, Form)}


@cache
def discord_schema(name: str) -> Draft202012Validator:
    """Returns Discord's own OpenAPI specification."""
    components = json.loads(DISCORD_API.read_text(encoding="utf-8"))["components"]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})


def card_of(*blocks: cards.Block, title: str = "Title") -> Card:
    return Card(title, "In short.", blocks)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def shows(text: str) -> bool:
    return any(not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc") for c in text)


def beyond(limits: Mapping[str, tuple[int, str]], what: str, size: int, seen: object = "") -> Iterator[str]:
    """Describes a value that exceeds its limit, with the source of the limit."""
    most, source = limits[what]
    if size > most:
        yield f"{what}: {size} > {most} ({source}): {seen!r}"


def _card(text: str, other: str, plain: str, pictures: int) -> Card:
    table = Table(("a", plain), ((plain, plain), ("1", other)), plain)
    option = Options((Lettered("A", other),))
    shown = [block for _ in range(pictures) for block in (Picture(PNG, other), Small(other))]
    blocks = (Text(text), Small(other), Code(text), option, table, *shown, Text(other))
    links = tuple(Link(plain, f"https://quiz.example/{place}{'x' * 60 * place}") for place in range(pictures * 2))
    return Card(plain, plain, blocks, (Button(plain, "t"),), links)


def _form(text: str, other: str, plain: str, count: int, several: bool) -> Form:
    options = tuple((f"o{n}", f"**{n}** {other}") for n in range(count))
    fields = (PickField("options", other, options, ("o0",), several), TextField("t", other, plain, text))
    blocks = (Text(text), Picture(PNG, other))
    return Form(plain, "f:r1", fields, blocks, other, links=(Link(plain, "https://quiz.example/e/1"),))


def any_cards() -> st.SearchStrategy[Card]:
    return st.builds(_card, ANY_MARKDOWN, MARKDOWN, st.text(max_size=60), st.integers(0, 7))


def any_forms() -> st.SearchStrategy[Form]:
    return st.builds(_form, ANY_MARKDOWN, MARKDOWN, st.text(max_size=200), st.integers(1, 12), st.booleans())
