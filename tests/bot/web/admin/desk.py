"""The admin pages as the lead's browser meets them without scripts: pages, and forms posted as they stand."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

import httpx

from tests.bot.web.http_browser import Browser

Fields = Mapping[str, str | list[str]]


async def shown(lead: Browser, path: str = "") -> str:
    """Opens an admin page; returns it."""
    answer = await lead.opens(f"/m/{lead.member}/admin{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


async def sent(lead: Browser, path: str, fields: Fields) -> httpx.Response:
    """Posts fields with the token and the one-time number of the present page."""
    data = {"token": lead.hidden("token"), "event": lead.hidden("event"), **fields}
    return await lead.http.post(f"/m/{lead.member}/admin{path}", data=data)


async def posted(lead: Browser, path: str, fields: Fields) -> str:
    """Posts fields as `sent` and returns the page that follows."""
    answer = await sent(lead, path, fields)
    assert answer.status_code == 303, answer.text
    return (await lead.opens(answer.headers["location"])).text


def words(page: str) -> str:
    """Returns the text of a page on one line."""
    body = page[page.index("<main") : page.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
