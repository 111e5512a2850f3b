"""No secret and nothing that members wrote passes: any known secret in any text, every shape, every setting."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from bot.discord.settings import DiscordSettings
from bot.settings import BotSettings, LinkSettings, OidcSettings
from bot.slack.settings import SlackSettings
from service.config import Settings
from service.logs import MASK, MIN_SECRET_LENGTH, Redaction, secrets_of

ROOT = Path(__file__).parent.parent.parent
CANARY = "canary-5f0c"
SETTINGS: tuple[type[BaseModel], ...] = (
    Settings,
    LinkSettings,
    BotSettings,
    OidcSettings,
    DiscordSettings,
    SlackSettings,
)

# The mask's own characters are left out: what stands beside a mask is not the secret it hides.
secrets = st.text(st.characters(exclude_characters="[]hiden", exclude_categories=["Cs"]), min_size=MIN_SECRET_LENGTH)
texts = st.text(max_size=30)


@given(secrets, texts, texts)
def test_a_known_secret_passes_in_no_spelling(secret: str, before: str, after: str) -> None:
    secret = secret.strip()
    assume(len(secret) >= MIN_SECRET_LENGTH)
    hiding = Redaction()
    hiding.add(secret)
    for form in (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1]):
        assert secret not in hiding.text(before + form + after)
        assert form not in hiding.text(before + form + after)


@given(secrets)
def test_a_known_secret_passes_in_no_value(secret: str) -> None:
    secret = secret.strip()
    assume(len(secret) >= MIN_SECRET_LENGTH)
    hiding = Redaction()
    hiding.add(secret)
    deep: object = secret
    for _ in range(9):
        deep = {secret: [deep, (secret, {secret}), ValueError(secret), secret.encode(), Path(f"/{secret}")]}
    told = hiding.value(deep)
    assert secret not in str(told)
    assert json.loads(json.dumps(told)) == told


@given(texts)
def test_every_log_line_can_be_written(text: str) -> None:
    Redaction().text(text + "\ud800").encode()


def test_a_longer_secret_is_hidden_whole_though_it_begins_as_another_does() -> None:
    hiding = Redaction()
    hiding.add("secret")
    hiding.add("secret-and-more", "abc")
    assert hiding.text("secret-and-more secret abc") == f"{MASK} {MASK} abc"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://quiz:{CANARY}@db:5432/quiz",
        f"cannot connect to postgresql+psycopg://quiz:p/{CANARY}@s@db/quiz: refused",
        f"http://me:{CANARY}@proxy:3128 does not answer",
        f"host=db password={CANARY} user=quiz",
        f"host=db password='with space {CANARY}' user=quiz",
        f"xoxb-1-{CANARY} is revoked",
        f"xoxe.xoxb-1-{CANARY}",
        f"token=xapp-1-A1-{CANARY}, team=T1",
        f"POST https://hooks.slack.com/commands/T1/1/{CANARY} gave 404",
        f"https://hooks.slack-gov.com/actions/{CANARY}",
        f"MTk4NjIyNDgzNDcxOTI1MjQ4.G{CANARY[:5]}.{CANARY}-{CANARY}-{CANARY}",
        f"aW50ZXJhY3Rpb246{CANARY}{CANARY}",
        f"POST https://discord.com/api/v10/interactions/12/{CANARY}/callback responded with 404",
        f"PATCH /api/v10/webhooks/12/{CANARY}/messages/@original",
        f"{{'Authorization': 'Bearer {CANARY}'}}",
        f"authorization: bearer {CANARY}",
        f"Proxy-Authorization: Basic {CANARY}{CANARY}=",
        f"'Authorization': 'Bot {CANARY}{CANARY}'",
        f"GET /slack/oauth_redirect?code=1.{CANARY}&state=x",
        f"wss://wss-primary.slack.com/link/?ticket={CANARY}&app_id=1",
        f"https://quiz.example.com/e/WzMsIlQx.{CANARY} was pressed",
        f"GET https://quiz.example.com/sign-in/{CANARY}_{CANARY} failed",
        f"the ID token eyJhbGciOiJSUzI1NiJ9.{CANARY}.{CANARY} is no JSON",
        f'null value in column "at"\nDETAIL:  Failing row contains (1, def f():\n    return {CANARY}\n).',
        f"value too long\nCONTEXT:  JSON data, line 1: {CANARY}\n[SQL: insert into answer]",
        f"1 validation error for Given\ncode\n  too long [type=x, input_value='{CANARY}, input_type=', input_type=str]",
        f"[{{'type': 'x', 'loc': ('body',), 'input': {{'code': '{CANARY}'}}}}]",
        f"[SQL: insert into answer values (%(given)s)]\n[parameters: {{'given': '{CANARY}'}}]",
    ],
)
def test_what_looks_like_a_secret_or_quotes_a_member_is_hidden(text: str) -> None:
    told = Redaction().text(text)
    assert CANARY not in told
    assert MASK in told


@pytest.mark.parametrize(
    "text",
    [
        "http://service:8000/v1/answer did not answer in 40 s",
        "postgresql://dailygrad@postgres:5432/dailygrad",
        "SLACK_BOT_TOKEN does not start with xoxb-; copy the Bot User OAuth Token",
        "The service token is missing or wrong; Bearer it must be",
        "connection to server at 127.0.0.1, port 1 failed: Connection refused",
        "slack:13345224609.738474920.8088930838d88f008e0: the reply was not delivered: channel_not_found",
        "answer 7: the reference ended with internal: no child",
        "Bot connected as Dailygrad in 3 servers",
        "GET /account/sign-in?here=1 gave 502",
        "In detail: nothing",
        "https://discord.com/api/v10/channels/12/messages responded with 429",
    ],
)
def test_what_an_operator_needs_stays(text: str) -> None:
    assert Redaction().text(text) == text


def test_a_field_named_like_a_secret_is_always_redacted() -> None:
    fields = {"api_token": "abc", "Authorization": ["abc"], "cookies": {"a": "abc"}, "tokens": 3, "ref": "r3"}
    told = Redaction().value(fields)
    assert told == {"api_token": MASK, "Authorization": MASK, "cookies": MASK, "tokens": 3, "ref": "r3"}


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_every_secret_of_every_setting_is_found(kind: type[BaseModel], tmp_path: Path) -> None:
    held: dict[str, Any] = {}
    wanted = set()
    for number, (name, field) in enumerate(kind.model_fields.items()):
        said = str(field.annotation)
        if "SecretStr" in said:
            wanted.add(f"{CANARY}-{number}")
            held[name] = SecretStr(f"{CANARY}-{number}")
        elif name.endswith("_file"):
            wanted.add(f"{CANARY}-{number}")
            held[name] = tmp_path / name
            (tmp_path / name).write_text(f"{CANARY}-{number}\n", encoding="utf-8")
        elif name == "database_url":
            wanted.add(f"{CANARY}/{number}")
            held[name] = f"postgresql://quiz:{CANARY}%2F{number}@db/quiz"
        else:
            held[name] = field.get_default(call_default_factory=True)
    assert wanted, "a class without secrets need not be listed"
    assert wanted <= set(secrets_of(kind.model_construct(**held)))


def test_every_class_of_settings_is_tried() -> None:
    found = set()
    for room in ("bot", "service"):
        for path in (ROOT / room).rglob("*.py"):
            found |= set(re.findall(r"^class (\w+)\((?:BaseSettings|LinkSettings)\)", path.read_text("utf-8"), re.M))
    assert found == {kind.__name__ for kind in SETTINGS}


def test_a_bots_token_is_found_without_its_platform() -> None:
    settings = Settings.model_construct(database_url="", bot_tokens=SecretStr(f"discord={CANARY}-1,slack={CANARY}-2"))
    assert {f"{CANARY}-1", f"{CANARY}-2"} <= set(secrets_of(settings))


def test_a_deleted_token_file_has_no_token(tmp_path: Path) -> None:
    settings = LinkSettings.model_construct(link_secret_file=tmp_path / "gone")
    assert [secret for secret in secrets_of(settings) if secret] == []
