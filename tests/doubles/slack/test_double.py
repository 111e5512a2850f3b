"""The double enforces Slack's rules on an unmodified slack-bolt app."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.slack import oracle
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.signed_http import signature, written
from tests.doubles.slack.world import Channel, Team, User

BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "Answer"}, "action_id": "a:r1", "value": "a:r1"}
ACTIONS = [{"type": "actions", "elements": [BUTTON]}]
INPUT = {
    "type": "input",
    "block_id": "answer",
    "label": {"type": "plain_text", "text": "Your answer"},
    "element": {"type": "plain_text_input", "action_id": "answer", "max_length": 20},
}
MODAL = {
    "type": "modal",
    "callback_id": "form",
    "title": {"type": "plain_text", "text": "Answer"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [INPUT],
}


class Scene:
    """A workspace with two people, a channel, and a client with the app's token."""

    def __init__(self, slack: SlackDouble) -> None:
        self.slack = slack
        self.team: Team = slack.team()
        self.ann: User = slack.user(self.team, "Ann", admin=True)
        self.bob: User = slack.user(self.team, "Bob")
        self.daily: Channel = slack.channel(self.team, "daily", self.ann, self.bob)
        self.client = AsyncWebClient(slack.bot_token(self.team), base_url=slack.api_url, retry_handlers=[])

    async def refused(self, call: Awaitable[Any]) -> dict[str, Any]:
        with pytest.raises(SlackApiError) as caught:
            await call
        assert isinstance(caught.value.response.data, dict)
        return caught.value.response.data

    @asynccontextmanager
    async def bolt(self) -> AsyncIterator[AsyncApp]:
        """A plain Bolt app in Socket Mode."""
        app = AsyncApp(client=self.client)
        handler = AsyncSocketModeHandler(app, self.slack.app.app_token, web_client=self.client, ping_interval=0.1)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        await self.slack.connected()
        yield app
        await handler.close_async()  # type: ignore[no-untyped-call]


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with slack_double() as slack:
        yield Scene(slack)


async def test_a_day_with_a_plain_bolt_app(scene: Scene) -> None:
    slack = scene.slack
    async with scene.bolt() as app:

        @app.command("/quiz")
        async def quiz(ack: Any, client: AsyncWebClient, body: dict[str, Any]) -> None:
            await ack("One moment.")
            await client.chat_postMessage(channel=body["channel_id"], text="Question", blocks=ACTIONS)

        @app.action("a:r1")
        async def pressed(ack: Any, client: AsyncWebClient, body: dict[str, Any]) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

        @app.view("form")
        async def sent(ack: Any, view: dict[str, Any], client: AsyncWebClient, body: dict[str, Any]) -> None:
            value = view["state"]["values"]["answer"]["answer"]["value"]
            if value == "no":
                await ack(response_action="errors", errors={"answer": "Say more."})
                return
            await ack()
            user = body["user"]["id"]
            await client.chat_postEphemeral(channel=scene.daily.id, user=user, text=f"You said {value}")

        typed = await slack.slash(scene.ann, scene.daily, "/quiz", "today")
        assert typed.acked and typed.took is not None
        assert [one.text for one in slack.private(scene.ann)] == ["One moment."]
        question = await slack.sees(scene.bob, "Question")
        assert (await slack.click(scene.bob, question, "Answer")).acked
        await slack.sees(scene.bob, "Your answer")
        with pytest.raises(AssertionError, match="asks to fill in"):
            await slack.submit_view(scene.bob)
        assert (await slack.submit_view(scene.bob, {"answer": "no"})).reply["errors"] == {"answer": "Say more."}
        assert (await slack.submit_view(scene.bob, {"answer": "yes"})).acked
        await slack.sees(scene.bob, "You said yes")
        assert not slack.world.stack(scene.bob)
        assert [one for one in slack.seen(scene.ann) if "You said" in one.words] == []
    slack.must_be_well()
    assert len(oracle.ack_times(slack.log)) == 4
    assert oracle.unanswered(slack.log) == []


async def test_an_acknowledgement_after_three_seconds_is_late(scene: Scene) -> None:
    sent: list[Delivery] = []
    envelopes: list[str] = []
    opened = await AsyncWebClient(scene.slack.app.app_token, base_url=scene.slack.api_url).apps_connections_open(
        app_token=scene.slack.app.app_token
    )
    async with aiohttp.ClientSession() as session, session.ws_connect(opened["url"]) as wire:
        assert (await wire.receive_json())["type"] == "hello"
        typing = asyncio.create_task(scene.slack.slash(scene.ann, scene.daily, "/quiz"))
        envelopes.append((await wire.receive_json())["envelope_id"])
        sent.append(await typing)
        await wire.send_json({"envelope_id": envelopes[0]})
        await scene.slack.until(lambda: scene.slack.log.count("late_ack"))
    assert sent[0].outcome == "operation_timeout"
    assert len(oracle.unanswered(scene.slack.log)) == 1


async def test_without_a_socket_nothing_is_dispatched_and_an_event_is_repeated_then_lost() -> None:
    async with slack_double(factor=3600) as slack:
        scene = Scene(slack)
        assert (await slack.slash(scene.ann, scene.daily, "/quiz")).outcome == "dispatch_failed"
        message = slack.dm(scene.ann, "hello")
        await slack.until(lambda: slack.log.count("lost"))
        made = slack.deliveries(message.metadata["event_id"])
        assert [one.attempt for one in made] == [0, 1, 2, 3]


async def test_who_asks_and_what_for_is_checked(scene: Scene) -> None:
    slack, client = scene.slack, scene.client
    secret = slack.channel(scene.team, "secret", scene.ann, private=True, bot=False)
    elsewhere = slack.channel(scene.team, "elsewhere", scene.ann, bot=False)
    old = slack.channel(scene.team, "old", scene.ann)
    old.archived = True

    async def why(call: Awaitable[Any]) -> str:
        return str((await scene.refused(call))["error"])

    assert await why(client.chat_postMessage(channel=secret.id, text="x")) == "channel_not_found"
    assert await why(client.chat_postMessage(channel=elsewhere.id, text="x")) == "not_in_channel"
    assert await why(client.chat_postMessage(channel=old.id, text="x")) == "is_archived"
    assert await why(client.api_call("chat.postMessage", json={"channel": scene.daily.id})) == "no_text"
    assert await why(client.auth_test(token="xoxb-nobody")) == "invalid_auth"
    assert await why(client.auth_test(token=slack.app.app_token)) == "not_allowed_token_type"
    slack.world.tokens[slack.bot_token(scene.team)].scopes = ("commands",)
    error = await scene.refused(client.chat_postMessage(channel=scene.daily.id, text="x"))
    assert (error["error"], error["needed"], error["provided"]) == ("missing_scope", "chat:write", "commands")
    slack.uninstall(scene.team)
    assert await why(client.auth_test()) == "account_inactive"


async def test_messages_wait_a_second_in_a_channel(scene: Scene) -> None:
    for _ in range(3):
        await scene.client.chat_postMessage(channel=scene.daily.id, text="x")
    with pytest.raises(SlackApiError) as caught:
        await scene.client.chat_postMessage(channel=scene.daily.id, text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    other = scene.slack.channel(scene.team, "other", scene.ann)
    await scene.client.chat_postMessage(channel=other.id, text="x")
    assert scene.slack.log.count("limited", channel=scene.daily.id) == 1
    assert oracle.fastest(scene.slack.log, scene.daily.id, 10) == 3


async def test_a_view_needs_a_fresh_trigger_used_once_and_at_most_three_stand(scene: Scene) -> None:
    slack, client = scene.slack, scene.client
    assert (await scene.refused(client.views_open(trigger_id="1.2.3", view=MODAL)))["error"] == "invalid_trigger_id"
    async with scene.bolt() as app:
        triggers: list[str] = []

        @app.command("/quiz")
        async def quiz(ack: Any, body: dict[str, Any]) -> None:
            await ack()
            triggers.append(body["trigger_id"])

        await slack.slash(scene.ann, scene.daily, "/quiz")
        view = (await client.views_open(trigger_id=triggers[0], view=MODAL))["view"]
        again = client.views_open(trigger_id=triggers[0], view=MODAL)
        assert (await scene.refused(again))["error"] == "exchanged_trigger_id"
        late = client.views_update(view_id=view["id"], hash="old", view=MODAL)
        assert (await scene.refused(late))["error"] == "hash_conflict"
        await client.views_update(view_id=view["id"], hash=view["hash"], view=MODAL)
        await slack.close_view(scene.ann)
        gone = client.views_update(view_id=view["id"], view=MODAL)
        assert (await scene.refused(gone))["error"] == "not_found"
        await slack.slash(scene.ann, scene.daily, "/quiz")
        slack.world.triggers[triggers[1]].ends = 0.0
        expired = client.views_open(trigger_id=triggers[1], view=MODAL)
        assert (await scene.refused(expired))["error"] == "expired_trigger_id"


def section(words: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


WRONG = {
    "51 blocks": ([{"type": "divider"}] * 51, "invalid_blocks"),
    "too long a text": ([section("x" * 3001)], "invalid_blocks"),
    "an empty text": ([section("")], "invalid_blocks"),
    "too long in all": ([section("x" * 2900)] * 5, "msg_blocks_too_long"),
    "an action twice": ([{"type": "actions", "elements": [BUTTON, BUTTON]}], "invalid_blocks"),
    "a long label": (
        [{"type": "actions", "elements": [BUTTON | {"text": {"type": "plain_text", "text": "x" * 76}}]}],
        "invalid_blocks",
    ),
    "a header of 151": ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "invalid_blocks"),
    "no alt text": ([{"type": "image", "image_url": "https://x.example/y.png"}], "invalid_blocks"),
    "two blocks of one id": ([{"type": "divider", "block_id": "b"}] * 2, "invalid_blocks"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_body_slack_refuses_is_refused_and_recorded(scene: Scene, name: str) -> None:
    blocks, error = WRONG[name]
    call = scene.client.chat_postMessage(channel=scene.daily.id, text="x", blocks=blocks)
    assert (await scene.refused(call))["error"] == error
    with pytest.raises(AssertionError, match=error):
        scene.slack.must_be_well()
    assert oracle.posts(scene.slack.log) == {}


@pytest.mark.parametrize(("how", "stands"), [("cut before", 0), ("cut after", 1), ("500", 0), ("429", 0)])
async def test_a_scripted_fault_commits_or_does_not(scene: Scene, how: Any, stands: int) -> None:
    scene.slack.fail("chat.postMessage", how)
    metadata = {"event_type": "dailygrad_post", "event_payload": {"key": "k"}}
    with pytest.raises((SlackApiError, aiohttp.ClientError)):
        await scene.client.chat_postMessage(channel=scene.daily.id, text="x", metadata=metadata)
    assert oracle.posts(scene.slack.log)["k"] == stands
    await scene.client.chat_postMessage(channel=scene.daily.id, text="x", metadata=metadata)
    assert oracle.twice(scene.slack.log) == ({"k": 2} if stands else {})
    found = await scene.client.conversations_history(channel=scene.daily.id, include_all_metadata=True)
    assert [one["metadata"]["event_payload"]["key"] for one in found["messages"]] == ["k"] * (stands + 1)


async def test_an_answer_by_url_serves_five_times(scene: Scene) -> None:
    async with scene.bolt() as app:
        urls: list[str] = []

        @app.command("/quiz")
        async def quiz(ack: Any, body: dict[str, Any]) -> None:
            await ack()
            urls.append(body["response_url"])

        await scene.slack.slash(scene.ann, scene.daily, "/quiz")
        async with aiohttp.ClientSession() as session:
            statuses = []
            for number in range(6):
                async with session.post(urls[0], json={"text": f"answer {number}"}) as answer:
                    statuses.append(answer.status)
    assert statuses == [200] * 5 + [404]
    assert len(scene.slack.private(scene.ann)) == 5


async def test_a_silent_socket_is_noticed_only_by_its_silence(scene: Scene) -> None:
    async with scene.bolt() as app:
        calls: list[str] = []

        @app.command("/quiz")
        async def quiz(ack: Any) -> None:
            calls.append("quiz")
            await ack()

        (deaf,) = scene.slack.sockets.deafen()
        # The library's own check: four intervals of 0.1 s, counted in whole seconds.
        await scene.slack.until(lambda: len(scene.slack.sockets.open) == 1 and scene.slack.sockets.made == 2)
        assert deaf not in scene.slack.sockets.open
        assert (await scene.slack.slash(scene.ann, scene.daily, "/quiz")).acked
        assert calls == ["quiz"]


async def test_files_go_up_in_three_steps_and_come_down_with_leave(scene: Scene) -> None:
    client = scene.client
    await client.files_upload_v2(content=b"png", filename="board.png", alt_txt="A board.", channel=scene.daily.id)
    (message,) = scene.slack.world.messages(scene.daily)
    assert (message.files[0]["name"], message.files[0]["alt_txt"]) == ("board.png", "A board.")
    sent = scene.slack.dm(scene.ann, "my answer", {"answer.py": b"x = 1\n"})
    async with aiohttp.ClientSession() as session:
        url = sent.files[0]["url_private"]
        headers = {"Authorization": f"Bearer {scene.slack.bot_token(scene.team)}"}
        async with session.get(url, headers=headers) as answer:
            assert await answer.read() == b"x = 1\n"
        async with session.get(url) as answer:
            assert "Sign in" in await answer.text()


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # how slack_sdk calls it
async def test_a_refresh_token_is_used_up_by_its_use() -> None:
    async with slack_double(factor=60) as slack:
        slack.app.rotation = True
        team = slack.team()
        (again,) = slack.world.refresh
        client = AsyncWebClient(base_url=slack.api_url)
        credentials = {"client_id": slack.app.client_id, "client_secret": slack.app.client_secret}

        def refresh() -> Awaitable[Any]:
            return client.oauth_v2_access(**credentials, grant_type="refresh_token", refresh_token=again)

        fresh = await refresh()
        assert fresh["access_token"] in slack.world.tokens and fresh["team"]["id"] == team.id
        with pytest.raises(SlackApiError, match="invalid_refresh_token"):
            await refresh()


def test_a_signature_is_of_the_body_and_its_time() -> None:
    at = int(time.time())
    body, headers = written(Delivery("1", "slash_commands", {"command": "/quiz"}))
    assert (body, headers["Content-Type"]) == ("command=%2Fquiz", "application/x-www-form-urlencoded")
    assert signature("s", at, body) != signature("s", at - 1, body)
    body, _ = written(Delivery("1", "events_api", {"type": "event_callback"}))
    assert json.loads(body) == {"type": "event_callback"}


async def test_bolt_by_signed_http(scene: Scene) -> None:
    app = AsyncApp(client=scene.client, signing_secret=scene.slack.app.signing_secret, process_before_response=True)
    commands: list[str] = []

    @app.command("/quiz")
    async def quiz(ack: Callable[..., Awaitable[None]]) -> None:
        commands.append("quiz")
        await ack("By HTTP.")

    server = app.server(port=0)
    runner = aiohttp.web.AppRunner(server.web_app)
    await runner.setup()
    site = aiohttp.web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        scene.slack.by_http(f"http://127.0.0.1:{port}")
        assert (await scene.slack.slash(scene.ann, scene.daily, "/quiz")).acked
        assert scene.slack.private(scene.ann)[0].text == "By HTTP."
        body, headers = scene.slack.signed_http.sent[0]
        forged = headers | {"X-Slack-Signature": "v0=" + "0" * 64}
        old = headers | signature(scene.slack.app.signing_secret, int(time.time()) - 360, body)
        statuses = [(await scene.slack.signed_http.send(body, wrong))[0] for wrong in (forged, old)]
        assert (statuses, commands) == ([401, 401], ["quiz"])
    finally:
        await runner.cleanup()
