"""No text of a question's author or of a member mentions, notifies or links anybody in any chat; our own cards can."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bot.console.render import card_text
from bot.core.cards import Bar, Bars, Block, Card, Form, Lettered, Options, PickField, Small, Table, Text, TextField
from bot.core.markup import channel_markdown, escape, member_markdown, parse, to_html
from bot.discord.modals import modal
from bot.discord.render import bodies as discord_bodies
from bot.slack import bodies as slack_bodies
from bot.slack.views import view

OWN = member_markdown("Ann", "discord", "7"), channel_markdown("#daily", "discord", "8")
SIGNATURE = OWN[0].rpartition(":")[2].removesuffix(")")

HOSTILE = (
    *("[x](member:discord:1)", "[x](channel:discord:1)", "[x](member:discord:1:)", "<member:discord:1>"),
    # The signature of another mention, which somebody might have seen.
    f"[x](member:discord:1:{SIGNATURE})",
    f"[x](channel:discord:7:{SIGNATURE})",
    f"[x](member:discord:1:{'0' * 32})",
    *("[x][1]\n\n[1]: member:discord:1", "![x](member:discord:1)", "[x](MEMBER:DISCORD:1)"),
    *("<@1>", "<@!1>", "<#1>", "<@&1>", "@everyone", "@here", "</quiz board:1>", "<id:browse>", "<:e:1>"),
    *("&#60;@1&#62;", "&lt;@1&gt;", r"\<@1>", "<**@1**>", "<\u202a@1>", "<\u200b@1>", "< @1>", "**<@1>**"),
    *("<!channel>", "<!here|x>", "<!everyone>", "<!subteam^S1>", "<@U1>", "<@U1|x>", "<#C1|x>", "&lt;!channel&gt;"),
    *("- <@1>\n  - <!here>", "> <@1> <!here>", "|<@1>|\n|-|\n|<!here>|", "# <@1> <!here>", "`<!here>`"),
    *("```\n<!here>\n``` <@1>", "```\n``` <@1> ```", "`` <@1>", "[<@1>](https://a.example)", "$<@1>$"),
)


def cards_with(text: str) -> Iterator[Card]:
    """Yields cards with a text everywhere that authors and members can put one."""
    markdown: tuple[Block, ...] = (Text(text), Small(text), Options((Lettered("A", text),)))
    plain: tuple[Block, ...] = (Bars((Bar(text, 1, 1.0),), text), Table((text, "n"), ((text, "1"),), text, (1,)))
    yield Card(text.replace("\n", " "), text.replace("\n", " "), (*markdown, *plain))
    yield Card("Report", "In short.", (Text(escape(text)),))


def form_with(text: str) -> Form:
    picks = tuple((str(number), text) for number in range(2))
    fields = (TextField("text", text, text, text), PickField("options", text, picks))
    return Form(text, "f:r1", fields, (Text(text),))


def contents(value: Any) -> Iterator[str]:
    """Yields the texts in which Discord reads mentions."""
    if isinstance(value, dict):
        yield from (str(found) for name, found in value.items() if name == "content")
        for inner in value.values():
            yield from contents(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from contents(inner)


def discord_mentions(bodies: list[dict[str, Any]]) -> list[str]:
    found = []
    for text in contents(bodies):
        # Discord reads none in code.
        prose = re.sub(r"```.*?```|(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
        found += re.findall(r"(?<!\\)<(?:@|#|/|id:|a?:\w)[^>]*>|@(?:everyone|here)", prose)
    return found


def slack_mentions(value: Any) -> list[str]:
    """Returns elements that mention, and what could be a mention in text that Slack reads as markup."""
    found: list[str] = []
    if isinstance(value, dict):
        if value.get("type") in ("user", "usergroup", "broadcast", "channel", "team"):
            found.append(json.dumps(value))
        marked = [value["text"]] if value.get("type") == "mrkdwn" or ("blocks" in value and "text" in value) else []
        found += [text for text in marked if "<" in text]
        for inner in value.values():
            found += slack_mentions(inner)
    elif isinstance(value, list):
        for inner in value:
            found += slack_mentions(inner)
    return found


# Signatures differ from process to process, and names of tests may not.
@pytest.mark.parametrize("text", HOSTILE, ids=[text.replace(SIGNATURE, "SIGNATURE") for text in HOSTILE])
def test_a_text_of_an_author_or_member_mentions_nobody_in_any_chat(text: str) -> None:
    for card in cards_with(text):
        shown = discord_bodies(card)
        assert discord_mentions(shown) == []
        assert all(body["allowed_mentions"] == {"parse": []} for body in shown)
        assert slack_mentions(slack_bodies(card)) == []
        assert card_text(card)
    assert not re.search(r"<[@#!]|href=.(?!https://a\.example)", to_html(parse(text))), "the web makes no link of it"
    form = form_with(text)
    assert discord_mentions([modal(form)]) == []
    assert slack_mentions(view(form)) == []


def test_our_own_cards_do_and_notify_nobody() -> None:
    card = Card("Title", "In short.", tuple(Text(one) for one in OWN))
    (body,) = discord_bodies(card)
    assert discord_mentions([body]) == ["<@7>", "<#8>"]
    assert body["allowed_mentions"] == {"parse": []}
    assert slack_mentions(slack_bodies(card)) == []
