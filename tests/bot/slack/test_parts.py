"""Small parts of the Slack bot: settings, manifest, errors, views, hosts of files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorError
from jsonschema import Draft7Validator
from pydantic import ValidationError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.core.cards import Button, Card, ChannelField, Form, MemberField, Picture, Table, Text, TextField, TimeField
from bot.core.command_spec import COMMANDS
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, part_keys
from bot.slack.auth import consent_url
from bot.slack.manifest import BOT_SCOPES, WHY, app_manifest, main
from bot.slack.people import is_slack_url
from bot.slack.render import bodies
from bot.slack.replies import card_view, field_errors, form_view, home_view, refilled_view, reply_view, waiting_view
from bot.slack.route import Route, read_metadata
from bot.slack.settings import Mode, SlackSettings
from bot.slack.uploads import has_pictures, with_alt_texts
from bot.slack.web_api import NotInstalled, classify_error
from tests.bot.samples import GALLERY
from tests.bot.slack.limits import wrong_in_message
from tests.doubles.slack.manifest import wrong_in_manifest
from tests.doubles.slack.rules import wrong_in_view
from tests.external import SLACK_MANIFEST, needs_manifest_schema

FOLDER = Path(__file__).parents[3] / "bot" / "slack"
SOCKET = {"SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN": "xoxb-1"}
HTTP = {"SLACK_SIGNING_SECRET": "s", "SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "c"}


# Settings


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], SlackSettings]:
    """Reads the settings from these variables."""

    def read(names: dict[str, str]) -> SlackSettings:
        for name, value in names.items():
            monkeypatch.setenv(name, value)
        return SlackSettings()

    return read


def test_the_mode_follows_from_the_settings(environment: Callable[[dict[str, str]], SlackSettings]) -> None:
    one = environment(SOCKET)
    assert (one.mode, one.many, one.http_port) == (Mode.socket, False, None)
    assert "xoxb" not in repr(one)


def test_many_workspaces_are_reached_over_http(environment: Callable[[dict[str, str]], SlackSettings]) -> None:
    many = environment(HTTP | {"SLACK_API_URL": "https://slack-gov.com/api", "DAILYGRAD_SLACK_MANAGERS": "U1, U2 U3"})
    assert (many.mode, many.many, many.http_port) == (Mode.http, True, 3000)
    assert many.api_url == "https://slack-gov.com/api/"
    assert many.manager_ids == {"U1", "U2", "U3"}
    assert consent_url(many.api_url) == "https://slack-gov.com/oauth/v2/authorize"


def test_a_secret_may_be_in_a_file(environment: Callable[[dict[str, str]], SlackSettings], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("xoxb-from-a-file\n", encoding="utf-8")
    read = environment({"SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN_FILE": str(tmp_path / "token")})
    assert read.bot_token is not None
    assert read.bot_token.get_secret_value() == "xoxb-from-a-file"
    with pytest.raises(ValueError, match="SLACK_BOT_TOKEN_FILE names /nowhere, which cannot be read: No such file"):
        environment({"SLACK_BOT_TOKEN_FILE": "/nowhere"})


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "neither SLACK_APP_TOKEN .* nor SLACK_SIGNING_SECRET"),
        ({"SLACK_APP_TOKEN": "xapp-1"}, "no workspace is configured"),
        (SOCKET | {"SLACK_APP_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN does not start with xapp-"),
        (SOCKET | {"SLACK_BOT_TOKEN": "xoxp-1"}, "SLACK_BOT_TOKEN does not start with xoxb-"),
        (SOCKET | {"SLACK_CLIENT_ID": "1"}, "only one of SLACK_CLIENT_ID and SLACK_CLIENT_SECRET"),
        (SOCKET | HTTP, "both SLACK_BOT_TOKEN .* and SLACK_CLIENT_ID"),
        (SOCKET | {"SLACK_API_URL": "slack.com"}, "SLACK_API_URL is 'slack.com'"),
    ],
)
def test_invalid_settings_are_explained_in_a_sentence(
    environment: Callable[[dict[str, str]], SlackSettings], names: dict[str, str], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        environment(names)


# The manifest


URLS = ["", "https://quiz.example.org/"]


@pytest.mark.parametrize("url", URLS)
def test_the_manifest_keeps_the_documented_limits(url: str) -> None:
    manifest = app_manifest(url)
    assert wrong_in_manifest(manifest) == []
    assert wrong_in_manifest({**manifest, "unheard_of": 1})
    manifest["features"]["slash_commands"][0]["command"] = "quiz"
    assert wrong_in_manifest(manifest)


@needs_manifest_schema
def test_the_manifest_is_valid_by_slacks_own_schema() -> None:
    validator = Draft7Validator(json.loads(SLACK_MANIFEST.read_text(encoding="utf-8")))
    for url in URLS:
        validator.validate(app_manifest(url))


def test_the_manifest_names_every_command_and_why_it_wants_each_scope(capsys: pytest.CaptureFixture[str]) -> None:
    found = app_manifest("https://quiz.example.org")
    commands = found["features"]["slash_commands"]
    assert [one["command"] for one in commands] == ["/quiz", "/quiz-admin"]
    for spec in COMMANDS:
        hint = next(one["usage_hint"] for one in commands if one["command"] == f"/{spec.name}")
        assert spec.path[0] in hint.split(" | ")
    assert set(WHY) == set(BOT_SCOPES)
    assert {one["url"] for one in commands} == {"https://quiz.example.org/slack/events"}
    assert not found["settings"]["socket_mode_enabled"]
    main([])
    assert capsys.readouterr().out == (FOLDER / "manifest.json").read_text(encoding="utf-8"), (
        "run: python -m bot.slack.manifest > bot/slack/manifest.json"
    )
    with pytest.raises(SystemExit):
        main(["--http", "quiz.example.org"])


# Errors


def refused(code: str, status: int = 200, headers: dict[str, str] | None = None, **more: str) -> SlackApiError:
    data: dict[str, Any] = {"ok": False, "error": code, **more}
    answer = AsyncSlackResponse(
        client=None, http_verb="POST", api_url="", req_args={}, data=data, headers=headers or {}, status_code=status
    )
    return SlackApiError("no", answer)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("not_in_channel", "/invite @Dailygrad"),
        ("is_archived", "unarchive it"),
        ("account_inactive", "install the app again"),
        ("channel_not_found", "does not exist, or is private"),
    ],
)
def test_permanent_errors_name_cause_and_fix(code: str, said: str) -> None:
    found = classify_error(refused(code))
    assert isinstance(found, DeliveryRefused)
    assert str(found).startswith(code)
    assert said in str(found)


def test_a_missing_scope_is_named() -> None:
    assert "the scope chat:write" in str(classify_error(refused("missing_scope", needed="chat:write")))


def test_a_rate_limit_says_when_to_retry() -> None:
    found = classify_error(refused("ratelimited", 429, {"Retry-After": "7"}))
    assert isinstance(found, DeliveryDelayed)
    assert found.seconds == 7
    odd = classify_error(refused("ratelimited", 429, {"Retry-After": "soon"}))
    assert isinstance(odd, DeliveryDelayed)
    assert odd.seconds == 1


def test_unknown_errors_are_passed_on() -> None:
    for error in (refused("internal_error", 500), refused("fatal_error"), TimeoutError()):
        assert classify_error(error) is error


def test_a_failed_connection_is_retried_later() -> None:
    assert isinstance(classify_error(ClientConnectorError(None, OSError("refused"))), DeliveryDelayed)  # type: ignore[arg-type]
    assert isinstance(classify_error(NotInstalled("T1")), DeliveryRefused)


def test_every_message_of_a_card_has_a_key() -> None:
    assert part_keys("k", 1) == ["k"]
    assert part_keys("k", 3) == ["k/1", "k/2", "k/3"]


# Windows

CARD = Card("A title", "In short.", (Text("Hello **you**."),), (Button("Go", "n::"),))
FORM = Form("Your answer", "f:r12", (TextField("text", "Your answer", "before", "A hint."),))
ROUTE = Route(team="T1", channel="C1", thread="1.1", response_url="https://r/1")


@pytest.mark.parametrize("name", GALLERY)
def test_every_reply_fits_a_view_and_the_home_tab(name: str) -> None:
    said = GALLERY[name]
    window = reply_view(said, ROUTE)
    assert wrong_in_view(window) == ("", [])
    assert read_metadata(window["private_metadata"])[1]["channel"] == "C1"
    if isinstance(said, Card):
        home = home_view(said)
        assert home["type"] == "home"
        assert len(home["blocks"]) <= 100
        assert not any(block["type"] in ("table", "input") for block in home["blocks"])


def test_a_card_in_a_view_has_buttons_and_no_submit() -> None:
    window = card_view(CARD, ROUTE)
    assert "submit" not in window
    assert window["blocks"][-1]["elements"][0]["value"] == "n::"
    assert wrong_in_view(waiting_view()) == ("", [])


def test_a_refusal_is_shown_under_the_last_field() -> None:
    assert field_errors(form_view(FORM, ROUTE), CARD) == {"response_action": "errors", "errors": {"text": "In short."}}
    assert field_errors(card_view(CARD, ROUTE), CARD) is None


def test_a_late_refusal_keeps_the_members_input() -> None:
    options = [{"text": {"type": "plain_text", "text": one}, "value": one} for one in "ab"]
    picks = {
        "type": "input",
        "block_id": "p",
        "label": {"type": "plain_text", "text": "Pick"},
        "element": {"type": "checkboxes", "action_id": "p", "options": options, "initial_options": options[:1]},
    }
    view = form_view(FORM, ROUTE)
    state = {"values": {"text": {"text": {"value": "mine"}}, "p": {"p": {"selected_options": options[1:]}}}}
    payload = view | {"id": "V1", "hash": "h", "state": state, "blocks": [*view["blocks"], picks]}
    again = refilled_view(payload, CARD)
    assert wrong_in_view(again) == ("", [])
    assert again["private_metadata"] == view["private_metadata"]
    assert (again["blocks"][0]["type"], again["blocks"][0]["text"]["text"]) == ("alert", "In short.")
    assert [block["element"].get("initial_value") for block in again["blocks"][-2:]] == ["mine", None]
    assert again["blocks"][-1]["element"]["initial_options"] == options[1:]


def test_a_late_refusal_keeps_what_was_picked_from_menus() -> None:
    fields = (MemberField("who", "Whom?"), ChannelField("where", "Where?", "C1"), TimeField("at", "When?", "09:00"))
    view = form_view(Form("Menus", "f:r1", fields), ROUTE)
    picked = {"who": ("user", "U7"), "where": ("conversation", "C7"), "at": ("time", "10:30")}
    values = {name: {name: {f"selected_{kind}": value}} for name, (kind, value) in picked.items()}
    again = refilled_view(view | {"id": "V1", "hash": "h", "state": {"values": values}}, CARD)
    assert wrong_in_view(again) == ("", [])
    elements = {block["block_id"]: block["element"] for block in again["blocks"] if block["type"] == "input"}
    assert {name: elements[name][f"initial_{kind}"] for name, (kind, _) in picked.items()} == {
        name: value for name, (_, value) in picked.items()
    }


def test_a_picture_may_be_replaced_by_its_alt_text() -> None:
    body = bodies(Card("Board", "In short.", (Picture(b"png", "Ann leads by two."), Table(("a",), (("b",),)))))[0]
    assert has_pictures(body)
    spoken = with_alt_texts(body)
    assert not has_pictures(spoken)
    assert "Ann leads by two." in json.dumps(spoken["blocks"])
    assert wrong_in_message(spoken) == []


# Files


@pytest.mark.parametrize(
    ("url", "api", "may"),
    [
        ("https://files.slack.com/a.py", "https://slack.com/api/", True),
        ("https://files.slack-gov.com/a.py", "https://slack-gov.com/api/", True),
        ("https://files.slack.com/a.py", "https://proxy.example.org/api/", True),
        ("http://127.0.0.1:8/files/a", "http://127.0.0.1:8/api/", True),
        ("http://127.0.0.1:9/files/a", "http://127.0.0.1:8/api/", False),
        ("http://files.slack.com/a.py", "https://slack.com/api/", False),
        ("https://evilslack.com/a.py", "https://slack.com/api/", False),
        ("https://slack.com.evil.org/a.py", "https://slack.com/api/", False),
        ("https://slack.com@evil.org/a.py", "https://slack.com/api/", False),
        ("file:///etc/passwd", "https://slack.com/api/", False),
    ],
)
def test_a_token_is_sent_only_to_slack(url: str, api: str, may: bool) -> None:
    assert is_slack_url(url, api) is may
