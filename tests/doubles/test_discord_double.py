"""The double behaves like Discord for an unmodified discord.py client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp
import discord
import pytest
import yarl
from discord import gateway, http

from tests.doubles.discord import Discord
from tests.doubles.discord.faults import Cut, Hold, Status
from tests.doubles.discord.people import Impossible
from tests.doubles.discord.world import BOT_NEEDS, SEND, VIEW, Channel, Json, Member

CREATE = "POST /channels/{channel_id}/messages"
GUILDS = discord.Intents(guilds=True)
COMMANDS: list[Json] = [
    {
        "name": "quiz",
        "description": "The quiz.",
        "options": [
            {
                "type": 1,
                "name": "board",
                "description": "A board.",
                "options": [{"type": 3, "name": "period", "description": "Which.", "autocomplete": True}],
            }
        ],
    }
]
ANSWER: Json = {"type": 2, "style": 1, "label": "Answer", "custom_id": "a:r1"}
BUTTON: Json = {"type": 1, "components": [ANSWER]}


@dataclass
class Bot:
    """A plain discord.py client that keeps its interactions."""

    client: discord.Client
    came: asyncio.Queue[discord.Interaction] = field(default_factory=asyncio.Queue)

    async def post(self, channel: Channel, content: str = "hello", **more: object) -> Json:
        body = {"content": content, **more}
        found: Json = await self.client.http.request(
            http.Route("POST", "/channels/{channel_id}/messages", channel_id=channel.id), json=body
        )
        return found

    async def next(self) -> discord.Interaction:
        async with asyncio.timeout(60):
            return await self.came.get()


@dataclass
class Scene:
    double: Discord
    bot: Bot
    ann: Member
    daily: Channel


@asynccontextmanager
async def at_work(
    monkeypatch: pytest.MonkeyPatch, client: discord.Client, *, shards: int = 1, beat_s: float = 20
) -> AsyncIterator[Scene]:
    """Yields a client connected to a double with one channel."""
    async with Discord(shards=shards, beat_s=beat_s) as double:
        guild = double.world.guild("Team")
        daily, ann = guild.channel("daily"), guild.member("Ann", admin=True)
        double.register(COMMANDS)
        monkeypatch.setattr(http.Route, "BASE", double.url)
        monkeypatch.setattr(gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(double.gateway.url))
        bot = Bot(client)

        @client.event
        async def on_interaction(interaction: discord.Interaction) -> None:
            bot.came.put_nowait(interaction)

        running = asyncio.create_task(client.start(double.world.token))
        try:
            await double.until(lambda: len(double.log.of("ready")) == shards, "ready")
            yield Scene(double, bot, ann, daily)
        finally:
            await client.close()
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


@pytest.fixture
async def scene(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    async with at_work(monkeypatch, discord.Client(intents=GUILDS)) as scene:
        yield scene


async def test_a_message_is_made_once_under_a_nonce_and_seen(scene: Scene) -> None:
    first = await scene.bot.post(scene.daily, nonce="n1", enforce_nonce=True)
    again = await scene.bot.post(scene.daily, nonce="n1", enforce_nonce=True)
    assert again["id"] == first["id"]
    scene.double.forget_nonces()
    assert (await scene.bot.post(scene.daily, nonce="n1", enforce_nonce=True))["id"] != first["id"]
    assert [message.text for message in scene.daily.seen(scene.ann)] == ["hello", "hello"]
    assert scene.double.violations == []


async def test_what_is_done_before_a_fault_is_done(scene: Scene) -> None:
    scene.double.faults.next(CREATE, Status(500, after=True))
    assert (await scene.bot.post(scene.daily, nonce="n1", enforce_nonce=True))["nonce"] == "n1"
    scene.double.faults.next(CREATE, Cut(after=True))
    with pytest.raises(aiohttp.ClientError):
        await scene.bot.post(scene.daily, "cut after")
    scene.double.faults.next(CREATE, Cut())
    with pytest.raises(aiohttp.ClientError):
        await scene.bot.post(scene.daily, "cut before")
    scene.double.faults.next(CREATE, held := Hold(after=True))
    posting = asyncio.create_task(scene.bot.post(scene.daily, "held"))
    await held.reached.wait()
    assert [message.text for message in scene.daily.seen()] == ["hello", "cut after", "held"]
    assert not posting.done()
    held.let_go()
    await posting


async def test_limits_are_announced_and_enforced(scene: Scene) -> None:
    headers = {"Authorization": f"Bot {scene.double.world.token}"}
    url = f"{scene.double.url}/channels/{scene.daily.id}/messages"
    async with aiohttp.ClientSession(headers=headers) as session:
        seen = []
        for _ in range(6):
            async with session.post(url, json={"content": "x"}) as answer:
                seen.append((answer.status, answer.headers["X-RateLimit-Remaining"]))
                body = await answer.json()
        assert seen == [(200, "4"), (200, "3"), (200, "2"), (200, "1"), (200, "0"), (429, "0")]
        assert 4 < body["retry_after"] <= 5
        for _ in range(60):
            async with session.get(f"{scene.double.url}/gateway/bot") as answer:
                body = await answer.json()
        assert (answer.status, body["global"]) == (429, True)
    assert scene.double.limits.invalid


async def test_a_forbidden_channel_and_a_body_against_the_rules_are_refused(scene: Scene) -> None:
    guild = next(iter(scene.double.world.guilds.values()))
    for channel, code in (
        (guild.channel("hidden", 0), 50001),
        (guild.channel("mute", BOT_NEEDS & ~SEND), 50013),
        (guild.channel("bare", VIEW), 50013),
        (Channel("nowhere", guild=guild), 10003),
    ):
        with pytest.raises(discord.HTTPException) as refused:
            await scene.bot.post(channel)
        assert refused.value.code == code
    assert scene.double.violations == []
    row_of_six: Json = {"type": 1, "components": [{**ANSWER, "custom_id": f"{n}"} for n in range(6)]}
    bodies: list[Json] = [{"content": "x" * 2001}, {"components": [BUTTON, BUTTON]}, {"components": [row_of_six]}]
    for wrong in bodies:
        with pytest.raises(discord.HTTPException) as refused:
            await scene.bot.post(scene.daily, **{"content": "", **wrong})
        assert refused.value.code == 50035
    assert len(scene.double.violations) >= 2


async def test_the_first_response_counts_within_three_seconds(scene: Scene) -> None:
    made = await scene.bot.post(scene.daily, components=[BUTTON])
    message = scene.daily.messages[int(made["id"])]
    with pytest.raises(Impossible):
        await scene.double.press(scene.ann, message, "a:r2")

    late = await scene.double.press(scene.ann, message, "a:r1", age_s=3.1)
    with pytest.raises(discord.NotFound, match="10062"):
        await (await scene.bot.next()).response.defer(ephemeral=True)
    assert late.answer is None

    pressed = await scene.double.press(scene.ann, message, "a:r1")
    came = await scene.bot.next()
    await came.response.defer(ephemeral=True, thinking=True)
    await scene.double.answered(pressed)
    assert pressed.delay < 3
    with pytest.raises(discord.HTTPException, match="40060"):
        await discord.InteractionResponse(came).defer()
    await came.followup.send("for Ann")
    assert (await scene.double.settled(pressed)).original is pressed.messages[0]
    assert [m.text for m in scene.daily.seen(scene.ann)][1:] == ["for Ann"]
    assert len(scene.daily.seen()) == 1
    scene.double.age_tokens(901)
    with pytest.raises(discord.HTTPException, match="50027"):
        await came.edit_original_response(content="too late")


async def test_two_clicks_on_a_card_each_keep_what_they_were_shown(scene: Scene) -> None:
    made = await scene.bot.post(scene.daily, components=[BUTTON])
    message = scene.daily.messages[int(made["id"])]
    newer = await scene.double.press(scene.ann, message, "a:r1")
    older = await scene.double.press(scene.ann, message, "a:r1", age_s=0.4)
    await (await scene.bot.next()).response.edit_message(content="recorded")
    await scene.double.settled(newer)
    second = await scene.bot.next()
    await second.response.defer()
    await second.edit_original_response(content="too late")
    await scene.double.settled(older)
    assert newer.original is older.original is message
    assert message.text == "too late"
    assert (newer.shown, older.shown) == (["recorded"], ["too late"])


async def test_a_command_is_completed_used_and_answered_by_a_form(scene: Scene) -> None:
    typing = await scene.double.autocomplete(scene.ann, scene.daily, "quiz", "board", typing="period", period="w")
    await (await scene.bot.next()).response.autocomplete([discord.app_commands.Choice(name="week", value="week")])
    assert (await scene.double.settled(typing)).choices == [{"name": "week", "value": "week"}]

    used = await scene.double.slash(scene.ann, scene.daily, "quiz", "board", period="week")
    modal = discord.ui.Modal(title="Form", custom_id="f:1").add_item(
        discord.ui.Label(text="Text", component=discord.ui.TextInput(custom_id="text"))
    )
    await (await scene.bot.next()).response.send_modal(modal)
    await scene.double.settled(used)
    sent = await scene.double.submit_modal(used, {"text": "typed"})
    came = await scene.bot.next()
    assert came.data is not None
    assert came.data["components"][0]["component"]["value"] == "typed"  # type: ignore[typeddict-item]
    await came.response.send_message("thanks", ephemeral=True)
    assert (await scene.double.settled(sent)).messages[0].text == "thanks"
    with pytest.raises(Impossible):
        await scene.double.slash(scene.ann, scene.daily, "quiz", "nothing")


@pytest.mark.parametrize("how", ["op 7", "op 9 resumable", "drop"])
async def test_a_session_is_resumed_and_nothing_missed(scene: Scene, how: str) -> None:
    double = scene.double
    match how:
        case "op 7":
            await double.gateway.ask_to_reconnect()
        case "drop":
            double.gateway.drop()
        case _:
            await double.gateway.invalidate(resumable=True)
    await double.until(lambda: double.gateway.listening == 0, "cut off")
    await double.slash(scene.ann, scene.daily, "quiz", "board")
    assert (await scene.bot.next()).type is discord.InteractionType.application_command
    assert len(double.log.of("identify")) == 1
    assert double.log.of("resume", known=True)


async def test_an_expired_session_starts_over(scene: Scene) -> None:
    await scene.double.gateway.invalidate(resumable=False)
    await scene.double.until(lambda: len(scene.double.log.of("ready")) == 2, "a new session")
    assert [entry["intents"] for entry in scene.double.log.of("identify")] == [1, 1]


async def test_a_thread_is_started_once_and_history_read(scene: Scene) -> None:
    made = await scene.bot.post(scene.daily)
    await scene.bot.post(scene.daily, "second")
    client, number = scene.bot.client.http, int(made["id"])
    thread = await client.start_thread_with_message(scene.daily.id, number, name="Answer", auto_archive_duration=1440)
    assert thread["id"] == made["id"]
    with pytest.raises(discord.HTTPException, match="160004"):
        await client.start_thread_with_message(scene.daily.id, number, name="Answer", auto_archive_duration=1440)
    found = await client.logs_from(scene.daily.id, 1)
    assert [message["content"] for message in found] == ["second"]
    found = await client.logs_from(scene.daily.id, 5, after=number - 1)
    assert [message["content"] for message in found] == ["second", "hello"]
    direct = await client.start_private_message(scene.ann.id)
    assert direct["recipients"][0]["username"] == "ann"


async def test_a_zombie_is_left_and_its_session_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = discord.Client(intents=GUILDS, heartbeat_timeout=0.5)
    async with at_work(monkeypatch, impatient, beat_s=0.2) as scene:
        scene.double.gateway.go_deaf()
        await scene.double.slash(scene.ann, scene.daily, "quiz", "board")
        assert (await scene.bot.next()).guild_id == scene.daily.guild.id  # type: ignore[union-attr]
        assert scene.double.log.of("resume", known=True)


async def test_every_server_belongs_to_one_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_work(monkeypatch, discord.AutoShardedClient(intents=GUILDS), shards=2) as scene:
        assert {entry["shard"] for entry in scene.double.log.of("identify")} == {(0, 2), (1, 2)}
        await scene.double.slash(scene.ann, scene.daily, "quiz", "board")
        assert (await scene.bot.next()).type is discord.InteractionType.application_command
        assert scene.bot.came.empty()
