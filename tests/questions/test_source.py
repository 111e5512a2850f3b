"""A document as lines, from any bytes, with positions as an editor counts them."""

from __future__ import annotations

import pytest

from questions.source import Source, Span, open_source, trim


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\rb", "\ufeffa\nb", b"a\nb", b"\xef\xbb\xbfa\r\nb"])
def test_line_endings_and_marks_make_no_difference(text: str | bytes) -> None:
    source, findings = open_source(text, "a.md")
    assert source == Source("a.md", ("a", "b"))
    assert findings == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_mark(encoding: str) -> None:
    source, _ = open_source(
        "\ufeffa – b".encode(encoding) if "-le" in encoding or "-be" in encoding else "a – b".encode(encoding), "a.md"
    )
    assert source.lines == ("a – b",)


def test_other_bytes_are_read_and_named() -> None:
    source, (finding,) = open_source("one\nit’s\n".encode("cp1252"), "a.md")
    assert source.line(2) == "it’s"
    assert (finding.code, finding.span, finding.label) == ("Q001", Span(2, 3, 2, 4), "byte 0x92")


def test_garbled_characters_are_named_and_kept() -> None:
    source, findings = open_source("fine – here\nâœ… yes\nit said â€œyesâ€\x9d", "a.md")
    assert source.line(2) == "âœ… yes"
    assert [(finding.code, finding.span.line) for finding in findings] == [("Q002", 2), ("Q002", 3)]
    assert findings[0].span == Span(2, 1, 2, 4)
    assert findings[0].label == "this was probably `✅`"


@pytest.mark.parametrize(("text", "label"), [("one\ntw\0o", "U+0000"), ("one\ntw\ud800o", "U+D800")])
def test_what_is_no_character_is_replaced_and_named(text: str, label: str) -> None:
    source, (finding,) = open_source(text, "a.md")
    assert source.lines == ("one", "tw\ufffdo")
    assert (finding.code, finding.span, finding.label) == ("Q010", Span(2, 3, 2, 4), label)


@pytest.mark.parametrize("text", ["naïve café", "数据", "Größe", "x → y", "“quoted” — and ’s", "emoji ✅"])
def test_right_characters_are_not_garbled(text: str) -> None:
    assert open_source(text, "a.md")[1] == ()


def test_lines_and_stretches() -> None:
    source = Source("a.md", ("", "  one", "", "  two  ", ""))
    assert (source.line(0), source.line(2), source.line(9)) == ("", "  one", "")
    assert source.text(1, 5) == "  one\n\n  two"
    assert source.text(4, 3) == ""
    assert source.last_filled(2, 5) == 4
    assert source.last_filled(5, 5) == 5
    assert source.span(2) == Span(2, 3, 2, 6)
    assert source.span(2, 4) == Span(2, 3, 4, 6)
    assert source.span(1) == Span(1, 1, 1, 2)


def test_where_a_text_stands() -> None:
    source = Source("a.md", ("one", "two one", "three"))
    assert source.span_of(1, 3, "\n  two one\nmore") == Span(2, 1, 2, 8)
    assert source.span_of(2, 3, "one") == Span(2, 5, 2, 8)
    assert source.span_of(2, 3, "absent") == source.span(2)
    assert source.span_of(2, 3, "") == source.span(2)


def test_trimming_keeps_the_first_lines_indentation() -> None:
    assert trim("\n \n    x = 1\n\n  y \n\n") == "    x = 1\n\n  y"
    assert trim(" \n") == ""


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        ("Що копіює?\nвид\nклон\n", "cp1251", "Windows-1251"),
        ("Что хранит тензор?\nЗначения и форму, а не копию данных.\n", "koi8_r", "KOI8-R"),
        ("什么是张量?\n它是一个多维的数组，有形状和数据类型。\n", "gb18030", "GB 18030"),
        ("什麼是張量?\n它是一個多維的陣列，有形狀的資料。\n", "big5", "Big5"),
        ("テンソルとは何ですか?\nそれは多次元の配列です。\n", "shift_jis", "Shift JIS"),
        ("テンソルとは何ですか?\nそれは多次元の配列です。\n", "euc_jp", "EUC-JP"),
        ("텐서는 무엇인가?\n이것은 다차원의 배열이다.\n", "euc_kr", "EUC-KR"),
        ("What is ‘stride’? Что это?\nШаг в памяти, не копия.\n", "cp1251", "Windows-1251"),
        ("Was ändert größer?\nÄußerst früh, à la façon.\n", "cp1252", "Windows-1252"),
        ("¿Qué número? Español, mañana…\n", "cp1252", "Windows-1252"),
    ],
)
def test_text_in_an_old_encoding_is_read_in_it_and_named(text: str, encoding: str, name: str) -> None:
    source, findings = open_source(text.encode(encoding), "a.md")
    assert "\n".join(source.lines) == text
    assert [(one.code, one.message) for one in findings] == [
        ("Q001", f"the document is not UTF-8 and was read as {name}")
    ]
