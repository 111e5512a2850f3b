"""Documents uploaded on the web: text stays text, other files go to the service as they are, within a size."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO
from types import SimpleNamespace

import pytest
from starlette.datastructures import FormData, UploadFile

from bot.core.text.members import import_form
from bot.web.render import environment
from bot.web.security import MAX_FILE, RequestProblem, text_of, with_documents
from service.wire import PACKED


async def upload(content: bytes, name: str) -> FormData:
    file = UploadFile(BytesIO(content), filename=name)
    return await with_documents(FormData([("v:name", ""), ("v:text", "typed"), ("file:text", file)]))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("# Küche".encode(), "# Küche"),
        ("\ufeff# Küche".encode(), "# Küche"),
        ("# Küche".encode("cp1252"), "# Küche"),
        ("# Küche".encode("utf-16"), "# Küche"),
    ],
    ids=["UTF-8", "with a mark", "Windows-1252", "UTF-16"],
)
async def test_a_text_replaces_the_typed_one_and_names_the_document(content: bytes, text: str) -> None:
    fields = await upload(content, "quiz.md")
    assert (text_of(fields, "v:text"), text_of(fields, "v:name")) == (text, "quiz.md")


@pytest.mark.parametrize("content", [b"PK\x03\x04 a workbook", b"\x89PNG\r\n\x00"], ids=["zip", "picture"])
async def test_a_file_that_is_not_text_is_kept_byte_for_byte(content: bytes) -> None:
    fields = await upload(content, "quiz.xlsx")
    packed = text_of(fields, "v:text")
    assert packed.startswith(PACKED)
    assert b64decode(packed.removeprefix(PACKED)) == content


async def test_a_file_that_is_too_large_is_refused_with_its_name() -> None:
    assert text_of(await upload(b"PK\x03\x04".ljust(MAX_FILE, b"x"), "quiz.apkg"), "v:name") == "quiz.apkg"
    with pytest.raises(RequestProblem, match=r"quiz\.apkg is larger than 2 MiB"):
        await upload(b"PK\x03\x04".ljust(MAX_FILE + 1, b"x"), "quiz.apkg")


def field_html(text: str) -> str:
    field = import_form("quiz", text).fields[1]
    macros = environment().get_template("blocks.html").make_module({"message": None})
    return str(macros.field(field, SimpleNamespace(id=1), ""))  # type: ignore[attr-defined]


def test_the_form_keeps_an_uploaded_file_out_of_sight() -> None:
    html = field_html(f"{PACKED}UEsDBA==")
    assert f'<input type="hidden" name="v:text" value="{PACKED}UEsDBA==">' in html
    assert "<textarea" not in html
    assert 'type="file"' in html
    assert "<textarea" in field_html("# A")
