"""Names: cleaned so that nothing in them is hidden, compared by what they look like, in every alphabet."""

from __future__ import annotations

import unicodedata
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy import confusables
from service.domain.names import INVISIBLE, LONGEST, appearance, clean, find_problem, folded, skeleton

CYRILLIC_PAYPAL = "\u0440\u0430\u0443\u0440\u0430\u04cf"

HONEST = (
    "Ann", "José", "Đặng Thị Mỹ Lệ", "Łukasz", "Işıl", "Иван Грозный", "Серёжа", "Йосип", "Ђорђе", "Νίκος", "Αλέξης",
    "Հայկ",
    "李小龙", "山田 太郎", "さくら", "サクラ", "김민준", "محمد", "یاسمین", "שָׁלוֹם", "अंजलि", "কৃষ্ণ", "สมชาย", "தமிழ்",
    "བཀྲ་ཤིས", "བསྒྲུབས", "አበበ", "Иван Smith", "Ann (π)", "λ-calculus", "O'Neill", "x Æ A-12", "小明 2", "Team 🦊", "မောင်",
)  # fmt: skip
ALIKE = (
    ("paypal", CYRILLIC_PAYPAL),
    ("PayPal", "PayPaI"),
    ("PAYPAL", "\u0420\u0410\u0423\u0420\u0410L"),
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ("HELP", "\u041d\u0415L\u0420"),
    ("Bob", "B\u03bfb"),
    ("NIKI", "\u039d\u0399\u039a\u0399"),
    ("Oscar", "0scar"),
    ("modern", "modem"),
    ("O'Neill", "O\u2019Neill"),
    ("\u0420\u043e\u043c\u0430", "Po\u043c\u0430"),
    ("Ann Lee", "Ann\u00a0 Lee"),
)
DIFFERENT = (
    ("Ann", "Anna"), ("Jose", "José"), ("Иван", "Иванна"), ("李明", "李鸣"), ("Kai", "Kal"), ("Ali", "All"),
    ("ким", "кит"), ("Ann 1", "Ann 2"), ("Миша", "Маша"), ("さくら", "さくや"),
)  # fmt: skip
anything = st.text(max_size=30)
names = st.sampled_from(HONEST)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_name_is_kept(name: str) -> None:
    assert find_problem(clean(name)) is None
    assert clean(name) == unicodedata.normalize("NFKC", name)


def test_honest_names_do_not_look_alike() -> None:
    assert len({appearance(name) for name in HONEST}) == len(HONEST)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_are_found(one: str, other: str) -> None:
    assert appearance(clean(one)) == appearance(clean(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_look_different_are_not(one: str, other: str) -> None:
    assert appearance(one) != appearance(other)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a\u200bn\u200dn", "ann"),
        ("\u202enna\u202c", "nna"),
        ("\u2066ann\u2069\ufeff", "ann"),
        ("an\u00adn\ufe0f", "ann"),
        ("\u3164", ""),
        ("\u2800 \u115f", ""),
        ("  Ann \u3000 Lee\n", "Ann Lee"),
        ("\uff21\uff4e\uff4e", "Ann"),
    ],
)
def test_what_is_invisible_is_left_out(name: str, kept: str) -> None:
    assert clean(name) == kept


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "length"),
        ("x" * (LONGEST + 1), "length"),
        ("a\u0007b", "unreadable"),
        ("\ue000", "unreadable"),
        ("\ud800", "unreadable"),
        ("\u0301ann", "unreadable"),
        ("Z\u0335\u0336\u0337\u0338\u0334algo", "marks"),
        ("Z\u0335\u0335algo", "marks"),
        ("p\u0430ypal", "alphabets"),
        ("Ann P\u03bfe", "alphabets"),
        ("\u13aann", "alphabets"),
        ("J\u043fs\u04e7", "alphabets"),
    ],
)
def test_a_name_that_hides_something_is_refused(name: str, why: str) -> None:
    problem = find_problem(clean(name))
    assert problem is not None and problem.why == why


@given(anything)
def test_a_cleaned_name_is_clean(name: str) -> None:
    kept = clean(name)
    assert clean(kept) == kept
    assert not INVISIBLE.search(kept)
    assert unicodedata.is_normalized("NFKC", kept)


@given(anything)
def test_what_was_compared_once_does_not_change(name: str) -> None:
    assert skeleton(skeleton(clean(name))) == skeleton(clean(name))
    assert appearance(appearance(clean(name))) == appearance(clean(name))


@given(names, st.data())
def test_hidden_characters_change_no_name(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name)))
    hidden = data.draw(
        st.text(st.sampled_from("\u200b\u200d\u200e\u202a\u202e\u2066\u2069\ufeff\ufe0f\u00ad"), min_size=1)
    )
    disguised = clean(name[:place] + hidden + name[place:])
    assert (folded(disguised), appearance(disguised)) == (folded(name), appearance(clean(name)))


@given(
    st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), min_size=1), st.data()
)
def test_a_name_disguised_by_other_alphabets_is_found(name: str, data: st.DataObject) -> None:
    """Whatever letters are replaced by ones that Unicode says look like them."""
    disguised = "".join(data.draw(st.sampled_from(alike()[letter])) for letter in name)
    assert appearance(clean(disguised)) == appearance(name)


@cache
def alike() -> dict[str, str]:
    """Returns, for each ASCII letter and digit, single characters that look like it."""
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    found = {skeleton(letter): "" for letter in plain}
    for one in map(chr, range(0x80, 0x20000)):
        if unicodedata.category(one) in ("Lu", "Ll", "Lo", "Nd") and unicodedata.is_normalized("NFKC", one):
            shown = skeleton(one)
            if shown in found:
                found[shown] += one
    return {letter: letter + found[skeleton(letter)] for letter in plain}


def test_the_table_names_its_source_and_is_what_the_script_writes() -> None:
    written = confusables.TABLE.read_text("utf-8")
    assert '"version": "17.0.0"' in written and "unicode.org" in written and "Unicode-3.0" in written
    sample = (
        "# confusables.txt\n# Version: 17.0.0\n0430 ;\t0061 ;\tMA\t# ( a ) CYRILLIC\n006D ;\t0072 006E ;\tMA\t#\n"
        "FF41 ;\t0061 ;\tMA\t# full-width, which NFKC replaces\n"
    )
    made = confusables.table(sample)
    assert made.split('"alike"')[0] == written.split('"alike"')[0]
    assert made.split('"alike"')[1] == ': {\n    "0061": "0430",\n    "0072 006E": "006D"\n  }\n}\n'
