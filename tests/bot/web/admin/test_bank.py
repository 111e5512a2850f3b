"""The bank browser: search, filters, a question with everything about it, and imports with their preview."""

from __future__ import annotations

import re

import pytest

from tests.bot.conftest import BANK, QUESTIONS, Room
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, opens, plays

DOCUMENT = """# tensors/views

## strided · choice · senior

What does `x.t()` return for a matrix `x`?

- [x] A view of `x`
- [ ] A copy of `x` — a view shares its memory
"""


def listed(page: str) -> list[str]:
    return re.findall(r'<li>\s*<a href="[^"]*/admin/bank/question\?id=([^"]*)"', page)


async def test_it_lists_the_bank_by_topic(member: Browser) -> None:
    page = await shown(member, "/bank")
    assert sorted(listed(page)) == sorted(QUESTIONS)
    assert f"{len(QUESTIONS)} questions." in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("text=ONE-right", {"one-right"}),
        ("text=torch.zeros", {"one-right"}),
        ("kind=code", {"add-one"}),
        ("kind=nonsense", set(QUESTIONS)),
        ("state=retired", {"two-lines"}),
        ("state=asked&kind=output", set()),
        ("text=%25", set()),
        ("bank=nothing", set()),
        ("page=99", set()),
    ],
)
async def test_search_and_filters(room: Room, member: Browser, query: str, found: set[str]) -> None:
    await room.client.bank_retire(OPERATOR, room.event_id(), "two-lines", True)
    assert set(listed(await shown(member, f"/bank?{query}"))) == found


async def test_a_question_shows_key_versions_and_figures(room: Room, member: Browser) -> None:
    await plays(room, [called("Ada")], [called("Grace"), called("Zed")])
    page = words(await shown(member, "/bank/question?id=one-right"))
    assert "Right: (3, 2)" in page
    assert "33% right of 3 answers" in page
    assert re.search(r"Version Since Rounds 1 [0-9-]+ 1", page)


async def test_the_key_of_an_open_question_stays_secret(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = words(await shown(member, "/bank/question?id=one-right"))
    assert "It is being asked now." in page
    assert "Right:" not in page and "swaps" not in page
    assert "/review/edit" not in member.page


async def test_it_is_retired_and_restored(room: Room, member: Browser) -> None:
    await shown(member, "/bank/question?id=one-right")
    fields = {"question": "one-right", "action": "retire"}
    page = words(await posted(member, "/bank/question", fields))
    assert "Retired: it is not asked here again." in page and "Retired here" in page
    page = words(await posted(member, "/bank/question", {**fields, "action": "restore"}))
    assert "Restored" in page and "Can be asked" in page


async def test_an_import_is_previewed_and_then_made(room: Room, member: Browser) -> None:
    await shown(member, "/bank/import")
    fields = {"v:name": "views", "v:text": DOCUMENT, "v:recipe": ""}
    answered = await sent(member, "/bank/import", {**fields, "action": "check"})
    assert answered.status_code == 200
    page = words(answered.text)
    assert "1 added, 0 changed, 0 unchanged, 0 retired" in page
    assert "3 choice What does x.t() return for a matrix x? A view of x none stated" in page
    assert "Import now" in page
    assert "nothing proves the key" in page
    assert "1 answered" not in page, "what the counts say already is no finding"
    assert "views" not in {bank.name for bank in await room.client.bank_list(OPERATOR)}
    member.page = answered.text
    page = words(await posted(member, "/bank/import", {**fields, "action": "import"}))
    assert "Imported." in page and "1 question." in page


async def test_a_preview_names_what_is_in_no_question(member: Browser) -> None:
    await shown(member, "/bank/import")
    text = "## 1. What is a view?\nA tensor.\n\n# <b>License</b>\n\nMIT.\n"
    answered = await sent(member, "/bank/import", {"v:name": "part", "v:text": text, "v:recipe": "", "action": "check"})
    assert 'In no question: lines 4–6 ("License").' in words(answered.text)
    assert "of the document" not in words(answered.text)
    member.page = answered.text
    fields = {"v:name": "part", "v:text": f"{text}\nAnd more.\n", "v:recipe": "", "action": "check"}
    most = words((await sent(member, "/bank/import", fields)).text)
    assert "This is 60% of the document. If questions are missing, import it with a recipe" in most


async def test_near_duplicates_are_shown_before_the_import(member: Browser) -> None:
    await shown(member, "/bank/import")
    again = BANK.read_text(encoding="utf-8").replace("bank: room", "bank: again")
    fields = {"v:name": "again", "v:text": again, "action": "check"}
    page = words((await sent(member, "/bank/import", fields)).text)
    assert "exact duplicates" in page
    assert "100% alike with one-right in the bank" in page


async def test_a_document_with_errors_is_not_imported(room: Room, member: Browser) -> None:
    await shown(member, "/bank/import")
    broken = DOCUMENT.replace("[x]", "[ ]")
    fields = {"v:name": "views", "v:text": broken}
    for action in ("check", "import"):
        page = (await sent(member, "/bank/import", {**fields, "action": action})).text
        assert "It has errors, so nothing can be imported" in page
        assert "Import now</button>" not in page
    assert "views" not in {bank.name for bank in await room.client.bank_list(OPERATOR)}


async def test_a_document_that_is_not_read_stays_in_the_form_with_the_reason(member: Browser) -> None:
    await shown(member, "/bank/import")
    fields = {"v:name": "views", "v:text": f"{'> ' * 900}deep\n", "v:recipe": "prompt: Q"}
    refused = await sent(member, "/bank/import", {**fields, "action": "check"})
    assert refused.status_code == 422 and "more than 100 deep" in words(refused.text)
    assert "deep" in refused.text and 'value="views"' in refused.text and "prompt: Q</textarea>" in refused.text


async def test_a_file_is_uploaded(member: Browser) -> None:
    await shown(member, "/bank/import")
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": "check"}
    files = {"file:text": ("views.md", DOCUMENT.encode(), "text/markdown")}
    answered = await member.http.post(f"/m/{member.member}/admin/bank/import", data=data, files=files)
    assert "1 added" in answered.text
    assert 'value="views.md"' in answered.text


async def test_what_is_missing_is_named(member: Browser) -> None:
    await shown(member, "/bank/import")
    answered = await sent(member, "/bank/import", {"v:name": "", "v:text": DOCUMENT, "action": "import"})
    assert answered.status_code == 422
    assert "Give the document a name" in answered.text
    assert (await member.opens(f"/m/{member.member}/admin/bank/question?id=nothing")).status_code == 409


async def test_without_generated_questions_nothing_is_approved(member: Browser) -> None:
    assert "No question fits." in await shown(member, "/bank?state=waiting")
    await shown(member, "/bank/import")
    refused = await sent(member, "/bank", {"action": "approve"})
    assert refused.status_code == 409


async def test_what_imports_do_with_prose_is_set(room: Room, member: Browser) -> None:
    await shown(member, "/bank")
    assert "Saved. It applies to future imports." in await posted(member, "/bank", {"action": "hold"})
    (entry, *_) = await room.client.audit(OPERATOR)
    assert (entry.action, entry.facts) == ("bank generated", {"generated": "hold"})
