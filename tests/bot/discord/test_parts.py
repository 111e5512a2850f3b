"""Small parts of the Discord bot: clock skew, autocompletion, and its own cards."""

from __future__ import annotations

import pytest

from bot.core.actions import Fill, Import, encode
from bot.core.cards import Form, PickField, Text, TextField
from bot.core.command_spec import COMMANDS, Argument, Spec, specs_of
from bot.core.text.discord import (
    file_not_text_card,
    file_too_large_card,
    file_unavailable_card,
    note_card,
    server_only_card,
    stranger_card,
)
from bot.discord import bodies
from bot.discord.commands import Autocompleter
from bot.discord.handler import ClockSkew, as_card
from bot.discord.render import created_ms, parse_custom_id
from service.client import ServiceClient
from service.wire import Who
from tests.bot.discord.limits import wrong_in_message
from tests.bot.rendering import FORMS
from tests.conftest import MONDAY, MakeWho

LONG = Form("Your answer", encode(Fill("r1")), (TextField("code", "Code", code=True),), (Text("word " * 2000),))


def snowflake(seconds: float) -> str:
    """Returns an id created at that time. Docs: reference, snowflakes."""
    return str((round((MONDAY.timestamp() + seconds) * 1000) - 1_420_070_400_000) << 22)


def test_an_id_contains_its_creation_time() -> None:
    assert created_ms(snowflake(0)) == MONDAY.timestamp() * 1000


def test_delays_are_measured_despite_clock_skew() -> None:
    """Our clock is an hour ahead; only the delay counts."""
    now = [MONDAY.timestamp() + 3600.1]
    clock_skew = ClockSkew(lambda: now[0])
    assert clock_skew.of(snowflake(0)) == 0
    now[0] += 1
    assert clock_skew.of(snowflake(1)) == pytest.approx(0, abs=0.01)
    now[0] += 4
    assert clock_skew.of(snowflake(1)) == pytest.approx(4, abs=0.01)
    assert clock_skew.of(snowflake(5)) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "card",
    [
        server_only_card(),
        stranger_card(),
        file_too_large_card("a@everyone.py", 2_000_000, 100_000),
        file_unavailable_card("a@everyone.py"),
        file_not_text_card("a@everyone.py"),
        note_card("<@1>"),
        as_card(LONG),
    ],
    ids=lambda card: card.title,
)
def test_discords_own_cards_keep_its_limits(card: object) -> None:
    found = bodies(card)  # type: ignore[arg-type]
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []


@pytest.mark.parametrize("name", FORMS)
def test_every_form_can_be_a_message_with_a_button(name: str) -> None:
    form = FORMS[name]
    card = as_card(form)
    assert [wrong for body in bodies(card, private=True) for wrong in wrong_in_message(body)] == []
    pressed = parse_custom_id(card.buttons[-1].action)
    assert pressed.opens and pressed.action == form.action


def test_alternatives_to_the_modal_are_named() -> None:
    said = str(as_card(LONG).blocks)
    assert "/quiz answer" in said and "Answer with this" in said
    document = Form("Import", encode(Import("apply")), (TextField("text", "The document", max_length=9000),))
    assert "/quiz-admin bank import" in str(as_card(document).blocks)
    choice = Form("Choose", encode(Fill("r1")), (PickField("options", "Which?", (("a", "**A** one"),), (), True),))
    assert "**A** one" in str(as_card(choice).blocks) and "/quiz answer" not in str(as_card(choice).blocks)


def argument_of(spec: Spec, name: str) -> Argument:
    return next(one for one in spec.arguments if one.name == name)


def spec_named(*path: str) -> Spec:
    return next(spec for spec in COMMANDS if spec.path == path)


async def test_suggestions_match_what_is_typed(client: ServiceClient, who: MakeWho) -> None:
    autocompleter = Autocompleter(client, lambda: MONDAY)
    add = spec_named("schedule", "add")
    zones = await autocompleter.suggest(who(), add, argument_of(add, "zone"), "new_y")
    assert zones == [("America/New_York", "America/New_York")]
    everything = await autocompleter.suggest(who(), add, argument_of(add, "zone"), "")
    assert len(everything) == 25 and everything[0][0] == "UTC"
    commands = await autocompleter.suggest(
        who(), specs_of("quiz")[-1], argument_of(specs_of("quiz")[-1], "command"), "pri"
    )
    assert [value for _, value in commands] == ["privacy"]


async def test_nothing_is_suggested_without_the_service(who: MakeWho) -> None:
    async with ServiceClient.over_http("http://127.0.0.1:9", "no-service-is-there") as away:
        autocompleter = Autocompleter(away, lambda: MONDAY)
        practice = spec_named("practice")
        assert await autocompleter.suggest(who(), practice, argument_of(practice, "topic"), "") == []


async def test_the_cache_of_suggestions_is_bounded(client: ServiceClient) -> None:
    autocompleter = Autocompleter(client, lambda: MONDAY)
    practice = spec_named("practice")
    for number in range(260):
        member = Who(platform="discord", workspace=f"{number}", member="1", name="Ada")
        autocompleter._cache[(member.workspace, "topic")] = (MONDAY, [])
    for workspace in ("first", "new"):  # on a busy machine, the first call may take longer than suggestions may
        member = Who(platform="discord", workspace=workspace, member="1", name="Ada")
        await autocompleter.suggest(member, practice, argument_of(practice, "topic"), "")
    assert len(autocompleter._cache) == 256
