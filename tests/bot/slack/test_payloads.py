"""Parsing of Slack's payloads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_bolt.async_app import AsyncBoltRequest

from bot.core.events import Added, Command, Press, Sent, Submit, Visited
from bot.slack.payloads import installed_in, message_text, parse_payload, removal_time, unescape
from bot.slack.route import IncomingEvent, Route, read_files, read_metadata, route_from, write_metadata

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMP = str((NOW - timedelta(seconds=2)).timestamp())
SLASH = {
    "command": "/quiz",
    "text": "board week",
    "team_id": "T1",
    "enterprise_id": "E1",
    "channel_id": "C1",
    "channel_name": "daily",
    "user_id": "U1",
    "user_name": "ann",
    "response_url": "https://hooks.slack.com/commands/1",
    "trigger_id": "13.37.abc",
}
PRESS = {
    "type": "block_actions",
    "team": {"id": "T1"},
    "user": {"id": "U1", "username": "ann", "team_id": "T1"},
    "channel": {"id": "C1", "name": "daily"},
    "container": {"type": "message", "message_ts": "1.2", "channel_id": "C1", "is_ephemeral": False},
    "message": {"ts": "1.2"},
    "trigger_id": "13.37.def",
    "response_url": "https://hooks.slack.com/actions/1",
    "actions": [{"type": "button", "action_id": "a:r12", "value": "a:r12", "action_ts": STAMP}],
}
VIEW = {
    "id": "V1",
    "type": "modal",
    "callback_id": "form",
    "private_metadata": write_metadata("f:r12", Route(channel="C1", channel_name="#daily", response_url="https://r/1")),
    "state": {"values": {}},
}
SUBMISSION = {
    "type": "view_submission",
    "team": {"id": "T1"},
    "user": {"id": "U1", "username": "ann"},
    "trigger_id": "13.37.ghi",
    "view": VIEW,
}


def request(body: dict[str, Any]) -> AsyncBoltRequest:
    return AsyncBoltRequest(body=body, mode="socket_mode")


def read(body: dict[str, Any]) -> IncomingEvent | None:
    return parse_payload(request(body), NOW)


def happened(**event: Any) -> dict[str, Any]:
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "event_time": int(NOW.timestamp()),
        "authorizations": [{"team_id": "T1", "enterprise_id": None, "user_id": "UBOT", "is_bot": True}],
        "event": {"event_ts": STAMP, **event},
    }


def message(**event: Any) -> dict[str, Any]:
    return happened(**{"type": "message", "channel": "C1", "user": "U1", "ts": "5.5", "text": "", **event})


def test_a_command_is_parsed_with_its_channel() -> None:
    incoming = read(SLASH)
    assert incoming is not None
    event = incoming.event
    assert isinstance(event, Command)
    assert (event.id, event.name, event.text) == ("slack:13.37.abc", "quiz", "board week")
    assert (event.who.workspace, event.who.member, event.who.name, event.who.admin) == ("T1", "U1", "ann", False)
    assert (event.where.channel, event.where.name) == ("C1", "#daily")
    assert incoming.route.response_url == SLASH["response_url"]
    assert incoming.route.trigger == "13.37.abc"
    assert route_from(incoming.route.as_dict()) == incoming.route


@pytest.mark.parametrize("name", ["privategroup", "directmessage", ""])
def test_placeholders_for_private_channels_are_ignored(name: str) -> None:
    incoming = read(SLASH | {"channel_name": name})
    assert incoming is not None
    assert incoming.event.where.name == ""


def test_a_direct_message_counts_for_the_workspace_except_for_admin_commands() -> None:
    direct = read(SLASH | {"channel_id": "D1", "channel_name": "directmessage"})
    admin = read(SLASH | {"channel_id": "D1", "command": "/quiz-admin"})
    assert direct is not None
    assert admin is not None
    assert (direct.event.where.channel, direct.route.channel) == ("", "D1")
    assert admin.event.where.channel == "D1"


def test_a_click_has_its_action_and_time() -> None:
    incoming = read(PRESS)
    assert incoming is not None
    assert isinstance(incoming.event, Press)
    assert incoming.event.action == "a:r12"
    assert incoming.event.at == NOW - timedelta(seconds=2)
    assert incoming.route.own == ""


@pytest.mark.parametrize("stamp", ["junk", "1.0", str((NOW + timedelta(days=1)).timestamp()), None])
def test_an_implausible_time_becomes_now(stamp: str | None) -> None:
    pressed = PRESS["actions"][0] | {"action_ts": stamp}  # type: ignore[index]
    incoming = read(PRESS | {"actions": [pressed]})
    assert incoming is not None
    assert incoming.event.at == NOW


def test_an_ephemeral_card_may_be_replaced() -> None:
    incoming = read(PRESS | {"container": {"is_ephemeral": True, "thread_ts": "1.1"}})
    assert incoming is not None
    assert (incoming.route.own, incoming.route.thread) == ("1", "1.1")


def test_a_link_button_is_ignored() -> None:
    assert read(PRESS | {"actions": [{"action_id": "link:0", "action_ts": STAMP}]}) is None


def test_a_submission_has_its_values_and_route() -> None:
    state = {
        "text": {"text": {"type": "plain_text_input", "value": "(3,)"}},
        "empty": {"empty": {"type": "plain_text_input", "value": None}},
        "one": {"one": {"type": "radio_buttons", "selected_option": {"value": "x"}}},
        "none": {"none": {"type": "static_select", "selected_option": None}},
        "options": {"options": {"type": "multi_static_select", "selected_options": [{"value": "a"}]}},
        "options:2": {"options:2": {"type": "multi_static_select", "selected_options": [{"value": "z"}]}},
    }
    incoming = read(SUBMISSION | {"view": VIEW | {"state": {"values": state}}})
    assert incoming is not None
    event = incoming.event
    assert isinstance(event, Submit)
    assert event.action == "f:r12"
    assert event.values == {"text": ("(3,)",), "empty": (), "one": ("x",), "none": (), "options": ("a", "z")}
    assert (event.where.channel, event.where.name) == ("C1", "#daily")
    assert (incoming.route.view, incoming.route.response_url) == ("V1", "https://r/1")


def test_a_button_in_a_form_submits_its_fields() -> None:
    state = {"values": {"code": {"code": {"type": "plain_text_input", "value": "x"}}}}
    body = PRESS | {"view": VIEW | {"state": state}, "container": {"type": "view", "view_id": "V1"}}
    pressed = {"action_id": "x:r12", "value": "x:r12", "action_ts": STAMP}
    incoming = read(body | {"actions": [pressed]})
    assert incoming is not None
    assert isinstance(incoming.event, Submit)
    assert (incoming.event.action, incoming.event.values) == ("x:r12", {"code": ("x",)})
    assert incoming.route.window == "form"


def test_a_direct_message_is_parsed() -> None:
    incoming = read(message(text="hi &lt;there&gt;", channel_type="im", channel="D1"))
    assert incoming is not None
    assert isinstance(incoming.event, Sent)
    assert (incoming.event.id, incoming.event.text) == ("slack:D1:5.5", "hi <there>")
    assert (incoming.event.where.channel, incoming.route.direct) == ("", "1")


def test_two_events_of_one_message_share_an_id() -> None:
    fence = "```x = 1```"
    beneath = message(text=fence, channel_type="im", channel="C1", thread_ts="1.1")
    mention = happened(type="app_mention", channel="C1", user="U1", ts="5.5", text=f"<@UBOT> {fence}")
    one, other = read(beneath), read(mention)
    assert one is not None
    assert other is not None
    assert one.event.id == other.event.id
    assert isinstance(other.event, Sent)
    assert other.event.text == fence


@pytest.mark.parametrize(
    "event",
    [
        {"text": "```x```", "channel_type": "channel"},
        {"text": "```x```", "channel_type": "channel", "thread_ts": "1.1", "parent_user_id": "U2"},
        {"text": "```x```", "channel_type": "channel", "thread_ts": "1.1", "parent_user_id": "UBOT"},
        {"text": "x", "channel_type": "im", "bot_id": "B1"},
        {"text": "x", "channel_type": "im", "subtype": "message_changed"},
    ],
)
def test_other_messages_are_ignored(event: dict[str, Any]) -> None:
    assert read(message(**event)) is None


def test_only_python_files_are_kept() -> None:
    files = [
        {"name": "a.py", "url_private": "https://files.slack.com/a", "size": 12},
        {"name": "b.png", "url_private": "https://files.slack.com/b", "size": 12},
        {"name": "snippet", "filetype": "python", "url_private_download": "https://files.slack.com/c"},
        {"name": "gone.py"},
    ]
    incoming = read(message(channel_type="im", subtype="file_share", files=files))
    assert incoming is not None
    assert [(file.name, file.url, file.size) for file in read_files(incoming.route.files)] == [
        ("a.py", "https://files.slack.com/a", 12),
        ("snippet", "https://files.slack.com/c", 0),
    ]


def test_the_bot_joining_a_channel_is_parsed() -> None:
    joined = {"type": "member_joined_channel", "channel": "C1", "inviter": "U1"}
    incoming = read(happened(user="UBOT", **joined))
    assert incoming is not None
    assert isinstance(incoming.event, Added)
    assert (incoming.event.who.member, incoming.event.where.channel) == ("U1", "C1")
    assert read(happened(user="U2", **joined)) is None


def test_only_the_home_tab_counts_as_a_visit() -> None:
    incoming = read(happened(type="app_home_opened", user="U1", channel="D1", tab="home"))
    assert incoming is not None
    assert isinstance(incoming.event, Visited)
    assert read(happened(type="app_home_opened", user="U1", channel="D1", tab="messages")) is None


def test_a_shared_channel_belongs_to_the_installed_workspace() -> None:
    body = happened(type="app_home_opened", user="U9") | {"team_id": "T-of-others"}
    assert installed_in(request(body).context, body) == ("T1", "")


def test_a_workspace_of_an_organization_has_both_ids() -> None:
    granted = {"team_id": "T1", "enterprise_id": "E1", "user_id": "UBOT", "is_bot": True}
    for body in (happened(type="app_home_opened", user="U1") | {"authorizations": [granted]}, SLASH):
        assert installed_in(request(body).context, body) == ("T1", "E1")


def test_a_revoked_user_token_is_not_a_removal() -> None:
    later = NOW + timedelta(hours=20)
    for removal in (happened(type="app_uninstalled"), happened(type="tokens_revoked", tokens={"bot": ["UBOT"]})):
        assert removal_time(removal, later) == NOW + timedelta(seconds=1)
        assert removal_time(removal, NOW) == NOW
        assert removal_time(removal | {"event_time": "soon"}, later) == later
    assert removal_time(happened(type="tokens_revoked", tokens={"oauth": ["U1"], "bot": []}), later) is None


def test_unknown_payloads_are_ignored() -> None:
    for body in ({}, {"type": "view_closed"}, {"type": "url_verification"}, happened(type="reaction_added")):
        assert read(body) is None


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"text": "fallback", "blocks": [{"type": "rich_text", "elements": list(elements)}]}


def section(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(runs)}


def test_code_is_restored_as_typed() -> None:
    code = 'x[:100:2] < "a" & b'
    preformatted = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": code}]}
    typed = rich(section({"type": "user", "user_id": "UBOT"}, {"type": "text", "text": " here:"}), preformatted)
    assert message_text(typed, "UBOT") == f"here:\n```\n{code}\n```"
    with_emoji = {"type": "rich_text_preformatted", "elements": [
        {"type": "text", "text": "x["}, {"type": "emoji", "name": "100"}, {"type": "link", "url": "http://a.b"},
    ]}  # fmt: skip
    assert message_text(rich(with_emoji)) == "```\nx[:100:http://a.b\n```"


def test_text_around_code_is_kept() -> None:
    bulleted = {"type": "rich_text_list", "elements": [section({"type": "text", "text": "one"})]}
    quoted = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said"}]}
    inline = section({"type": "text", "text": "x", "style": {"code": True}}, {"type": "broadcast", "range": "here"})
    assert message_text(rich(bulleted, quoted, inline)) == "- one\n> said\n`x`@here"


def test_a_message_without_blocks_is_parsed_from_its_text() -> None:
    text = "<@UBOT> see <https://a.b|the page> of <#C1|daily>, <@U2> <!here> &lt;T&gt; <https://c.d>"
    said = message_text({"text": text}, "UBOT")
    assert said == "see the page of #daily, @U2 @here <T> https://c.d"


@given(st.text())
def test_escapes_are_undone_exactly(text: str) -> None:
    assert unescape(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")) == text


@given(st.text(max_size=100), st.text(max_size=50), st.text(max_size=20))
def test_a_view_carries_its_route(action: str, url: str, name: str) -> None:
    route = Route(channel="C1", channel_name=name, thread="1.1", response_url=url, own="1")
    found, carried = read_metadata(write_metadata(action, route))
    assert found == action
    assert Route(**carried) == route


def test_unknown_metadata_is_an_action() -> None:
    assert read_metadata("f:r12") == ("f:r12", {})
    assert read_metadata("[1]") == ("[1]", {})


def test_metadata_always_fits() -> None:
    assert len(write_metadata("a", Route(response_url="x" * 4000))) < 3000
