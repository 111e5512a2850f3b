"""The documents are in plain American English: no phrase from the list to avoid, and no British spelling. The shipped
questions are spelled like them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, name_of, prose_of

AVOIDED = (
    *("whoever", "lest", "so long as", "of which", "is none", "so many", "no more than may be", "of ours", "be it"),
    *("for ever", "shall", "what is there", "what became of", "need be", "apart by", "thereof"),
)
BRITISH = (
    r"(optim|organ|recogn|normal|initial|synchron|serial|quant|general|author|util|minim|maxim|custom)is[eia]\w*",
    *("colours?", "behaviours?", "licences?", "judgements?", "centres?", "grey", "favou?rites?", "neighbours?"),
    *("labelled", "unlabelled", "cancelled", "modelling", "practise[ds]?", "practising", "catalogue", "whilst"),
)


def words_of(page: Path) -> str:
    """Returns the prose of a page without code, URLs and quotations."""
    return " ".join(re.sub(r"`[^`]*`|\]\([^)]*\)|\"[^\"]*\"", "", prose_of(page)).lower().split())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_document_is_in_plain_american_english(page: Path) -> None:
    words = words_of(page)
    assert [phrase for phrase in AVOIDED if re.search(rf"\b{re.escape(phrase)}\b", words)] == []
    assert british(words) == []


BANKS = sorted((ROOT / "questions" / "banks").glob("*.md"))


@pytest.mark.parametrize("bank", BANKS, ids=name_of)
def test_a_shipped_bank_is_spelled_the_american_way(bank: Path) -> None:
    assert british(words_of(bank)) == []


def british(words: str) -> list[str]:
    """Returns words that are spelled the British way."""
    return [found[0] for spelling in BRITISH for found in re.finditer(rf"\b{spelling}\b", words)]
