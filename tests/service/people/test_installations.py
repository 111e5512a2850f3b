"""Tokens of installations: encrypted at rest, found by team, refreshed by one, thrown away; states used once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import structlog
from cryptography.fernet import Fernet
from pydantic import SecretStr
from sqlalchemy import select
from typer.testing import CliRunner

from service.app import Service, build
from service.cli import service_command
from service.client import ServiceClient, ServiceRefused
from service.config import InvalidSettings, Settings, read_settings
from service.credentials import TokenCipher
from service.ops.deployment import examine_secrets
from service.people import installations
from service.people.installations import AHEAD, LEASE, STATE_GOOD_FOR
from service.people.reencryption import BATCH, Reencryption, reencrypt, reencrypting
from service.store.chats import InstallationRow, OAuthState
from service.wire import CallRejected, Installation
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel, daily_channel_of
from tests.service.lock_waits import until_locked_out

KEY, OTHER = Fernet.generate_key().decode(), Fernet.generate_key().decode()


def installation(clock: Clock, team: str = "T1", **more: object) -> Installation:
    values: dict[str, object] = {
        "platform": "slack",
        "team": team,
        "token": "xoxe.xoxb-1-hush",
        "refresh": "xoxe-1-hush",
        "expires_at": clock.now + timedelta(hours=12),
        "app": "A1",
        "bot_user": "U1",
        "scopes": ("chat:write", "commands"),
        "installed_by": "U2",
        "name": "A team",
    }
    return Installation.model_validate({**values, **more})


@pytest.fixture
async def keyed(database_url: str, clock: Clock) -> AsyncIterator[DailyChannel]:
    """A channel of a service with an encryption key."""
    settings = Settings(database_url=database_url, service_token=TOKEN, token_key=KEY)
    async with build(settings, clock).running() as service:
        yield daily_channel_of(service)


async def test_what_is_kept_is_found_again(keyed: DailyChannel, clock: Clock) -> None:
    mine = installation(clock)
    await keyed.client.installation_keep(mine)
    found = await keyed.client.installation_find("slack", "T1")
    assert found == mine
    assert found.token.get_secret_value() == "xoxe.xoxb-1-hush"
    assert await keyed.client.installation_find("slack", "T2") is None
    assert await keyed.client.installation_find("discord", "T1") is None


async def test_no_row_and_no_repr_shows_a_token(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock))
    (row,) = await keyed.rows(InstallationRow)
    said = str([getattr(row, column.key) for column in InstallationRow.__mapper__.column_attrs])
    assert "hush" not in said
    found = await keyed.client.installation_find("slack", "T1")
    assert "hush" not in f"{found!r} {found} {installation(clock)!r}"
    lease = await keyed.client.installation_lease("slack", "T1")
    assert "hush" not in f"{lease!r} {keyed.service.settings!r}"
    assert KEY not in repr(keyed.service.settings)


async def test_an_enterprise_stands_in_for_its_teams(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock, "", enterprise="E1", name="all"))
    await keyed.client.installation_keep(installation(clock, "T1", enterprise="E1", name="one"))
    names = []
    for team, enterprise in (("T1", "E1"), ("T1", ""), ("T2", "E1"), ("T2", ""), ("", "E1"), ("T2", "E2"), ("", "")):
        found = await keyed.client.installation_find("slack", team, enterprise)
        names.append(found and found.name)
    assert names == ["one", "one", "all", None, "all", None, None]
    await keyed.client.installation_forget("slack", "T1", "E1")
    found = await keyed.client.installation_find("slack", "T1", "E1")
    assert found is not None and found.name == "all"


async def test_an_enterprise_that_removes_the_app_removes_no_other_ones(keyed: DailyChannel, clock: Clock) -> None:
    for enterprise in ("E1", "E2"):
        await keyed.client.installation_keep(installation(clock, "", enterprise=enterprise))
    await keyed.client.installation_keep(installation(clock, "T1", enterprise="E1"))
    await keyed.client.installation_forget("slack", "", "E1")
    left = [row for row in await keyed.rows(InstallationRow) if row.token is not None]
    assert [(row.enterprise, row.team) for row in left] == [("E2", ""), ("E1", "T1")]


async def test_installing_again_takes_the_place_of_what_was(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock))
    await keyed.client.installation_forget("slack", "T1")
    assert await keyed.client.installation_find("slack", "T1") is None
    (row,) = await keyed.rows(InstallationRow)
    assert (row.token, row.refresh, row.revoked_at) == (None, None, clock.now)
    await keyed.client.installation_keep(installation(clock, token="xoxb-new"))
    found = await keyed.client.installation_find("slack", "T1")
    assert found is not None
    assert found.token.get_secret_value() == "xoxb-new"
    assert len(await keyed.rows(InstallationRow)) == 1


async def test_a_removal_that_is_reported_late_keeps_the_newer_installation(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock))
    clock.now += timedelta(minutes=1)
    removed_at = clock.now
    clock.now += timedelta(minutes=1)
    await keyed.client.installation_keep(installation(clock, token="xoxb-new"))
    clock.now += timedelta(minutes=3)
    await keyed.client.installation_forget("slack", "T1", removed_at=removed_at)
    found = await keyed.client.installation_find("slack", "T1")
    assert found is not None and found.token.get_secret_value() == "xoxb-new"
    await keyed.client.installation_forget("slack", "T1", removed_at=clock.now)
    assert await keyed.client.installation_find("slack", "T1") is None


@pytest.mark.parametrize("meanwhile", ["installed again", "removed"])
async def test_a_token_that_is_refreshed_while_the_app_changes_does_not_replace_what_came_of_it(
    keyed: DailyChannel, clock: Clock, meanwhile: str
) -> None:
    """The bot asked the platform before the app changed, and its tokens are saved just while the change is."""
    await keyed.client.installation_keep(installation(clock))
    cipher, again = TokenCipher([KEY]), installation(clock, token="xoxb-again", refresh="xoxe-again")
    refreshed = installation(clock, token="xoxb-refreshed", refresh="xoxe-refreshed")
    async with keyed.service.sessions.begin() as session:
        if meanwhile == "removed":
            await installations.forget(session, again, clock.now)
        else:
            await installations.keep(session, cipher, again, clock.now)
        refreshing = asyncio.create_task(keyed.client.installation_keep(refreshed, "xoxe-1-hush"))
        await until_locked_out(session, refreshing)
    await refreshing
    found = await keyed.client.installation_find("slack", "T1")
    assert found == (None if meanwhile == "removed" else again)


async def test_a_token_is_due_ahead_of_its_end_and_refreshed_by_one_caller(keyed: DailyChannel, clock: Clock) -> None:
    client = keyed.client
    await client.installation_keep(installation(clock, "T1"))
    await client.installation_keep(installation(clock, "T2", expires_at=None, refresh=None))
    assert await client.installation_due("slack") == ()
    assert await client.installation_lease("slack", "T1") is None
    clock.now += timedelta(hours=12) - AHEAD
    assert [key.team for key in await client.installation_due("slack")] == ["T1"]
    leases = await asyncio.gather(*(client.installation_lease("slack", "T1") for _ in range(8)))
    assert [lease.get_secret_value() for lease in leases if lease] == ["xoxe-1-hush"]
    assert await client.installation_due("slack") == ()
    for _ in range(2):  # an answer that was lost is asked for again
        await client.installation_keep(installation(clock, "T1", refresh="xoxe-2"), "xoxe-1-hush")
    assert await client.installation_lease("slack", "T1") is None
    found = await client.installation_find("slack", "T1")
    assert found is not None and found.refresh == SecretStr("xoxe-2")


async def test_tokens_that_are_refreshed_while_the_app_is_removed_do_not_bring_it_back(
    keyed: DailyChannel, clock: Clock
) -> None:
    await keyed.client.installation_keep(installation(clock, expires_at=clock.now))
    assert await keyed.client.installation_lease("slack", "T1") is not None
    clock.now += timedelta(seconds=1)
    await keyed.client.installation_forget("slack", "T1", removed_at=clock.now)
    clock.now += timedelta(seconds=1)
    await keyed.client.installation_keep(installation(clock, token="xoxb-late", refresh="xoxe-late"), "xoxe-1-hush")
    assert await keyed.client.installation_find("slack", "T1") is None


async def test_tokens_that_are_refreshed_while_the_app_is_installed_again_are_of_before(
    keyed: DailyChannel, clock: Clock
) -> None:
    await keyed.client.installation_keep(installation(clock, expires_at=clock.now))
    assert await keyed.client.installation_lease("slack", "T1") is not None
    await keyed.client.installation_keep(installation(clock, token="xoxb-new", refresh="xoxe-new"))
    await keyed.client.installation_keep(installation(clock, token="xoxb-late", refresh="xoxe-late"), "xoxe-1-hush")
    found = await keyed.client.installation_find("slack", "T1")
    assert found is not None and found.token == SecretStr("xoxb-new")


async def test_a_refresh_makes_no_installation_newer_than_its_removal(keyed: DailyChannel, clock: Clock) -> None:
    """Slack may report a removal hours late."""
    await keyed.client.installation_keep(installation(clock, expires_at=clock.now))
    clock.now += timedelta(minutes=1)
    removed_at = clock.now
    clock.now += timedelta(minutes=1)
    await keyed.client.installation_keep(installation(clock, refresh="xoxe-2"), "xoxe-1-hush")
    await keyed.client.installation_forget("slack", "T1", removed_at=removed_at)
    assert await keyed.client.installation_find("slack", "T1") is None


async def test_a_caller_that_died_gives_way_to_the_next(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock, expires_at=clock.now))
    assert await keyed.client.installation_lease("slack", "T1") is not None
    clock.now += LEASE - timedelta(seconds=1)
    assert await keyed.client.installation_lease("slack", "T1") is None
    clock.now += timedelta(seconds=1)
    assert await keyed.client.installation_lease("slack", "T1") == SecretStr("xoxe-1-hush")
    await keyed.client.installation_forget("slack", "T1")
    clock.now += LEASE
    assert await keyed.client.installation_due("slack") == ()
    assert await keyed.client.installation_lease("slack", "T1") is None


async def test_without_a_key_the_refusal_says_how_to_make_one(daily: DailyChannel, clock: Clock) -> None:
    with pytest.raises(ServiceRefused, match=r"set DAILYGRAD_TOKEN_KEY of .* `openssl rand") as refusal:
        await daily.client.installation_keep(installation(clock))
    assert isinstance(refusal.value.refusal, CallRejected) and refusal.value.refusal.code == "no-token-key"
    assert await daily.rows(InstallationRow) == []
    # Whoever installs nothing needs none.
    assert await daily.client.installation_find("slack", "T1") is None
    assert await daily.client.installation_due("slack") == ()


async def test_keys_are_changed_one_after_the_other(keyed: DailyChannel, clock: Clock, database_url: str) -> None:
    await keyed.client.installation_keep(installation(clock))

    async def found(key: str) -> Installation | None:
        settings = Settings(database_url=database_url, service_token=TOKEN, token_key=key)
        async with build(settings, clock).running() as service, ServiceClient.inside(service.api, TOKEN) as client:
            known = await client.installation_find("slack", "T1")
            if known is not None:
                await client.installation_keep(known)
            return known

    with pytest.raises(ServiceRefused, match="add the old key behind the new one"):
        await found(OTHER)
    assert await found(f"{OTHER},{KEY}") is not None
    # Written again, it needs the old key no more.
    assert await found(OTHER) is not None


async def test_a_service_with_a_new_key_first_encrypts_all_tokens_again(
    keyed: DailyChannel, clock: Clock, database_url: str
) -> None:
    teams = [f"T{number}" for number in range(BATCH + 3)]
    for team in teams:
        await keyed.client.installation_keep(installation(clock, team, **({"refresh": None} if team == "T1" else {})))
    secret = await keyed.client.web_secret("local")

    def service_with(keys: str) -> Service:
        return build(Settings(database_url=database_url, service_token=TOKEN, token_key=keys), clock)

    async with service_with(f"{OTHER},{KEY}").running() as service:
        found = await asyncio.gather(*(reencrypt(service.sessions, service.cipher) for _ in range(2)))
        assert sum(one.again for one in found) == len(teams) + 1
        assert all(one.again + one.current == len(teams) + 1 and not one.unreadable for one in found)
    async with service_with(OTHER).running() as service, ServiceClient.inside(service.api, TOKEN) as client:
        for team in teams:
            kept = await client.installation_find("slack", team)
            assert kept == installation(clock, team, **({"refresh": None} if team == "T1" else {}))
        assert await client.web_secret("local") == secret
    async with service_with(KEY).running() as service:
        assert await reencrypt(service.sessions, service.cipher) == Reencryption(unreadable=len(teams) + 1)


async def test_a_service_does_so_while_it_answers(keyed: DailyChannel, clock: Clock) -> None:
    await keyed.client.installation_keep(installation(clock))
    cipher = TokenCipher((OTHER, KEY))

    async def token() -> bytes:
        async with keyed.service.sessions() as session:
            return (await session.scalars(select(InstallationRow.token))).one() or b""

    async with reencrypting(keyed.service.sessions, TokenCipher((KEY,))):
        assert not cipher.is_current(await token()), "with one key there is nothing to do"
    async with reencrypting(keyed.service.sessions, cipher), asyncio.timeout(60):
        while not cipher.is_current(await token()):
            pass  # each look lets the work go on


async def test_the_command_says_whether_older_keys_are_needed(
    keyed: DailyChannel, clock: Clock, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keyed.client.installation_keep(installation(clock))
    monkeypatch.setenv("DATABASE_URL", database_url)
    said = []
    for keys in (f"{OTHER},{KEY}", OTHER, KEY, ""):
        monkeypatch.setenv("DAILYGRAD_TOKEN_KEY", keys)
        ended = await asyncio.to_thread(CliRunner().invoke, service_command, ["reencrypt"])
        said.append((" ".join(ended.stdout.split()), str(ended.exception or "")))
    assert said[0] == ("1 encrypted again, 0 had the newest key Only the newest key is needed now", "")
    assert said[1] == ("0 encrypted again, 1 had the newest key Only the newest key is needed now", "")
    assert "1 were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY" in said[2][1]
    assert "there is no key for it" in said[3][1]


async def test_a_key_that_is_gone_is_named_and_what_it_encrypted_can_be_forgotten(
    keyed: DailyChannel, clock: Clock, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keyed.client.installation_keep(installation(clock))
    secret = await keyed.client.web_secret("local")
    settings = Settings(database_url=database_url, service_token=TOKEN, token_key=OTHER)

    def checked(settings: Settings) -> list[tuple[bool, str]]:
        return [(check.ok, f"{check.found} | {check.fix}") for check in examine_secrets(settings)]

    assert checked(settings.model_copy(update={"token_key": SecretStr(KEY)})) == [
        (True, "they fit all 3 stored secrets | ")
    ]
    for without in (settings, settings.model_copy(update={"token_key": None})):
        ((ok, said),) = checked(without)
        assert not ok
        assert said.startswith("3 of 3 stored secrets were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY")
        assert "`dailygrad reencrypt --forget`" in said
    service = build(settings, clock)
    with structlog.testing.capture_logs() as logged:
        async with service.running(), reencrypting(service.sessions, service.cipher), asyncio.timeout(60):
            while not logged:
                await keyed.rows(InstallationRow)  # each look lets the work go on
    assert [(line["log_level"], line["unreadable"]) for line in logged] == [("error", 2)]

    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("DAILYGRAD_TOKEN_KEY", OTHER)
    forgotten = await asyncio.to_thread(CliRunner().invoke, service_command, ["reencrypt", "--forget"])
    assert "2 forgotten" in forgotten.stdout, forgotten.exception
    assert checked(settings) == []
    service = build(settings, clock)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        assert await client.installation_find("slack", "T1") is None
        assert await client.web_secret("local") != secret
        await client.installation_keep(installation(clock))
        assert await client.installation_find("slack", "T1") is not None
    assert checked(settings) == [(True, "they fit all 3 stored secrets | ")]


def test_an_invalid_key_stops_the_start_and_is_not_printed(database_url: str) -> None:
    with pytest.raises(InvalidSettings, match="DAILYGRAD_TOKEN_KEY: it contains an invalid key") as wrong:
        read_settings(database_url=database_url, service_token=TOKEN, token_key=f"{KEY} sesame")
    assert "sesame" not in str(wrong.value)
    with pytest.raises(InvalidSettings, match="DAILYGRAD_TOKEN_KEY_FILE: /nowhere cannot be read"):
        read_settings(database_url=database_url, service_token=TOKEN, token_key_file="/nowhere")


async def test_a_state_comes_back_once_in_time_and_to_its_platform(daily: DailyChannel, clock: Clock) -> None:
    client = daily.client
    state = await client.oauth_issue("slack")
    assert len(state) >= 32
    assert state not in str([row.digest for row in await daily.rows(OAuthState)])
    assert not await client.oauth_consume("discord", state)
    assert not await client.oauth_consume("slack", state + "x")
    assert [await client.oauth_consume("slack", state) for _ in range(2)] == [True, False]
    late = await client.oauth_issue("slack")
    clock.now += STATE_GOOD_FOR
    assert not await client.oauth_consume("slack", late)
    state = await client.oauth_issue("slack")
    taken = await asyncio.gather(*(client.oauth_consume("slack", state) for _ in range(5)))
    assert sorted(taken) == [False] * 4 + [True]
