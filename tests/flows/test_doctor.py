"""`dailygrad doctor` for whole deployments: names what is broken with its fix, and shows no secret."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from cryptography.fernet import Fernet
from starlette.responses import PlainTextResponse
from typer.testing import CliRunner

from bot.cli import bot_findings
from bot.doctor.checks import CheckResult
from bot.doctor.command import doctor_command, findings, run_checks
from bot.doctor.environment import BOT_SETTINGS, find_unknown
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.leader import Leader
from service.logs import Redaction
from service.ops import deployment
from service.ops.backups import MAX_AGE, examine_backups, read_header, take
from service.ops.deployment import LEAST_SPACE, examine_database, examine_space, running_at, secrets_in
from service.process import listen, now, serve_app
from service.store.session import libpq_url
from tests.conftest import TOKEN, MakeDatabase
from tests.doubles.openid import OpenIdProvider
from tests.service.daily_channel import choice, daily_channel_of
from tests.service.ops.backups.conftest import dumped_to

OURS = ("DAILYGRAD_", "DATABASE_", "DISCORD_", "SLACK_")
HOUR = timedelta(hours=1)
SETTINGS = (Path(__file__).parents[2] / "docs/settings.md").read_text(encoding="utf-8")
AT = datetime(2026, 3, 2, 8, tzinfo=UTC)


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """This process's environment without our settings."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    return monkeypatch


def lines(found: Sequence[CheckResult]) -> str:
    return "\n".join(f"{'ok' if one.good else 'broken'} {one.text} | {one.cure}" for one in found)


@contextlib.asynccontextmanager
async def listened(service: Service) -> AsyncIterator[str]:
    with listen("127.0.0.1", 0, tries=1) as listener:
        async with serve_app(service.api, listener, service.stopping.set):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_a_database_that_is_well_and_led(
    environ: pytest.MonkeyPatch, database_url: str, service: Service, tmp_path: Path
) -> None:
    environ.setenv("DATABASE_URL", database_url)
    environ.setenv("DAILYGRAD_SANDBOX_SOCKET", str(tmp_path / "sandbox.sock"))
    environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
    said = lines(await run_checks(None, tmp_path, None))
    for line in ("ok settings: they can be used", "ok database: PostgreSQL ", "ok clock: ", "ok database: at "):
        assert line in said
    assert "ok worker: none is alive | nothing waits for one yet" in said
    assert "broken sandbox: none answers, so code answers wait | start `dailygrad sandbox serve`" in said
    environ.delenv("DAILYGRAD_SANDBOX_SOCKET")
    environ.setenv("DAILYGRAD_WORKER_URL", "http://127.0.0.1:1")
    said = lines(await run_checks(None, tmp_path, None))
    assert "broken sandbox: none answers, so code answers wait | start `dailygrad work` there, and check" in said
    assert " data: " not in said
    daily = daily_channel_of(service)
    await daily.bank(choice())
    await daily.schedule()
    assert "broken worker: none is alive, and 1 schedule" in told(database_url)
    leader = Leader(database_url)
    try:
        assert await leader.acquire()
        assert "ok worker: one is alive and leads" in told(database_url)
    finally:
        await leader.release()


def test_a_database_that_is_amiss(database_url: str, new_database: MakeDatabase) -> None:
    assert "broken database: at no version yet" in told(new_database())
    unreachable = told("postgresql://nobody:hush-hush@127.0.0.1:1/nothing")
    assert "broken database: it cannot be used | check DATABASE_URL" in unreachable
    assert "hush-hush" not in unreachable
    for late in (told(database_url, lambda: now() - HOUR), told(database_url, lambda: now() + HOUR)):
        assert "broken clock: the database's is 3," in late
        assert "timedatectl" in late
    with psycopg.connect(libpq_url(database_url)) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    assert "at 9999, this version wants " in told(database_url)
    assert "update this program" in told(database_url)


def told(url: str, clock: Callable[[], datetime] = now) -> str:
    return lines(findings(examine_database(url, clock)))


async def test_a_key_of_another_machine_is_broken_although_everything_runs(
    environ: pytest.MonkeyPatch, database_url: str, tmp_path: Path
) -> None:
    key, other = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    service = build(Settings(database_url=database_url, service_token=TOKEN, token_key=key), now)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        await client.web_secret("local")
    environ.setenv("DATABASE_URL", database_url)
    for given, said in ((key, "ok keys: they fit all 1 "), (other, "broken keys: 1 of 1 stored secrets were ")):
        environ.setenv("DAILYGRAD_TOKEN_KEY", given)
        assert said in lines(await run_checks(None, tmp_path, None))


async def test_a_mistyped_setting_is_named(environ: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        *("DAILYGRAD_RETENTION_INBOX_DAY", "DAILYGRAD_VERBOSE", "DISCORD_SHARD", "DISCORD_WEBHOOK", "SLACK_BOT_TOKENS"),
        *(
            "DAILYGRAD_LOG_LEVEL",
            "DAILYGRAD_DATA",
            "DAILYGRAD_TOKEN_KEY_FILE",
            "DAILYGRAD_BACKUPS",
            "SLACK_CONFIG_TOKEN",
        ),
    ):
        environ.setenv(name, "")
    found = [line for line in lines(await run_checks(None, tmp_path, None)).splitlines() if "nothing reads" in line]
    assert [line.removeprefix("broken settings: nothing reads ") for line in found] == [
        "DAILYGRAD_RETENTION_INBOX_DAY | write DAILYGRAD_RETENTION_INBOX_DAYS if you mean that",
        "DAILYGRAD_VERBOSE | docs/settings.md lists every setting",
        "DISCORD_SHARD | write DISCORD_SHARDS if you mean that",
        "SLACK_BOT_TOKENS | write SLACK_BOT_TOKEN if you mean that",
    ]


def test_every_documented_setting_is_known() -> None:
    documented = set(re.findall(r"^\| `((?:DAILYGRAD|DISCORD|SLACK|DATABASE)_[A-Z_]+)`", SETTINGS, re.M)) - {
        "SLACK_ADDRESS"
    }
    assert len(documented) > 60
    assert list(find_unknown(documented, Settings, *BOT_SETTINGS)) == []


async def test_settings_are_read_first(environ: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environ.setenv("DATABASE_URL", "mysql://root:hush-hush@db/quiz")
    said = lines(await run_checks(None, tmp_path, None))
    assert "broken settings: they cannot be used | DATABASE_URL: it must look like postgresql://" in said
    assert "hush-hush" not in said


async def test_a_bots_machine(environ: pytest.MonkeyPatch, service: Service, tmp_path: Path) -> None:
    async with listened(service) as url:
        environ.setenv("DAILYGRAD_SERVICE_URL", url)
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
        environ.setenv("DAILYGRAD_LINK_URL", url)
        environ.setenv("DAILYGRAD_LINK_SECRET", "a secret that signs links")
        found = await run_checks(None, tmp_path, None)
        said = lines(found)
        assert all(one.good for one in found), said
        for line in (
            f"ok service: ready at {url}",
            "ok token: accepted by the service",
            "ok clock: within",
        ):
            assert line in said
        assert "links: the web editor answers" in said
        assert "PostgreSQL" not in said
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", "another-that-nobody-knows")
        said = lines([one async for one in bot_findings(now() + timedelta(minutes=9))])
        assert "broken token: " in said
        assert "broken clock: this machine is 5" in said
        assert "ahead of the service" in said
        assert "another-that" not in said
        environ.setenv("DAILYGRAD_LINK_SECRET", "")
        said = lines([one async for one in bot_findings(now())])
        assert "broken links: invalid settings | DAILYGRAD_LINK_URL is set" in said


async def test_links_that_lead_elsewhere_are_broken(environ: pytest.MonkeyPatch, service: Service) -> None:
    with listen("127.0.0.1", 0, tries=1) as listener:
        async with listened(service) as url, serve_app(PlainTextResponse("nothing is here", 404), listener):
            elsewhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
            environ.setenv("DAILYGRAD_SERVICE_URL", url)
            environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
            environ.setenv("DAILYGRAD_LINK_URL", elsewhere)
            environ.setenv("DAILYGRAD_LINK_SECRET", "a secret that signs links")
            said = lines([one async for one in bot_findings(now())])
    assert f"broken links: {elsewhere} is not the web editor (status 404) | point it at `dailygrad bot web`" in said


async def test_the_exit_status_says_whether_something_is_broken(
    environ: pytest.MonkeyPatch, service: Service, tmp_path: Path
) -> None:
    async def ended() -> int:
        made = await asyncio.to_thread(CliRunner().invoke, doctor_command, ["--data", str(tmp_path)])
        return made.exit_code

    async with listened(service) as url:
        environ.setenv("DAILYGRAD_SERVICE_URL", url)
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
        assert await ended() == 0
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", "another-that-nobody-knows")
        assert await ended() == 1


def test_a_disk_that_is_nearly_full_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, good in ((LEAST_SPACE, True), (LEAST_SPACE - 1, False)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        found = examine_space(tmp_path)
        assert (found.ok, "make room" in found.fix) == (good, not good)


async def test_a_sandbox_that_hangs_does_not_hold_the_doctor(
    environ: pytest.MonkeyPatch, database_url: str, tmp_path: Path
) -> None:
    environ.setattr(deployment, "TIMEOUT_SECONDS", 0.05)
    path = tmp_path / "sandbox.sock"

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(hang, path)
    async with server:
        settings = Settings(database_url=database_url, service_token=TOKEN, sandbox_socket=path)
        found = await deployment.examine_sandbox(settings)
    assert found is not None and not found.ok
    assert found.fix.endswith("it takes too long")


async def test_an_openid_provider(environ: pytest.MonkeyPatch, service: Service) -> None:
    provider = OpenIdProvider(now, "https://quiz.example.com/account/callback")
    async with provider.running(), listened(service) as url:
        for name, value in {
            "SERVICE_URL": url,
            "SERVICE_TOKEN": TOKEN,
            "OIDC_ISSUER": provider.url,
            "OIDC_CLIENT_ID": "quiz",
            "OIDC_URL": "https://quiz.example.com",
        }.items():
            environ.setenv(f"DAILYGRAD_{name}", value)

        async def said() -> str:
            return lines([one async for one in bot_findings(now())])

        assert (
            "ok sign-in: 127.0.0.1 answers, with 1 keys | register https://quiz.example.com/account/c" in await said()
        )
        provider.overrides = {"code_challenge_methods_supported": ["plain"]}
        assert "broken sign-in: 127.0.0.1 does not accept PKCE with S256" in await said()
        provider.overrides = {"issuer": f"{provider.url}/"}
        assert "broken sign-in: " in await said() and "DAILYGRAD_OIDC_ISSUER is" in await said()
        environ.setenv("DAILYGRAD_OIDC_CLIENT_ID", "")
        assert "broken sign-in: invalid settings | DAILYGRAD_OIDC_CLIENT_ID is not set" in await said()


async def test_an_unreachable_service(environ: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        environ.setenv("DAILYGRAD_SERVICE_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
        said = lines([one async for one in bot_findings(now())])
        assert "broken service: no answer at http://127.0.0.1:" in said
        environ.setenv("DAILYGRAD_SERVICE_TOKEN", "short")
        assert "broken settings: those of the bot" in lines([one async for one in bot_findings(now())])


async def test_the_data_folder_is_examined_where_a_bot_keeps_something_in_it(
    environ: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environ.setenv("DAILYGRAD_SERVICE_URL", "http://127.0.0.1:9")
    environ.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
    assert "data: " not in lines(await run_checks(None, tmp_path, None)), "the web chat keeps nothing"
    environ.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    assert f"ok data: {tmp_path} can be written" in lines(await run_checks(None, tmp_path, None))


async def test_a_chat_is_examined_where_its_token_is(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("DISCORD_TOKEN", "no-token-at-all")
    environ.setenv("DISCORD_API_URL", "http://127.0.0.1:1/api/v10")
    found = [one async for one in bot_findings(now())]
    assert found
    assert all(one.text.startswith("discord: ") for one in found)
    assert not all(one.good for one in found)
    assert "no-token-at-all" not in lines(found)


def test_an_embedded_database_is_checked_while_it_runs(tmp_path: Path) -> None:
    assert running_at(tmp_path) == ""
    pid = tmp_path / "postmaster.pid"
    pid.write_text(f"{os.getpid()}\n/data\n1\n5432\n/run/sockets\n\n")
    assert running_at(tmp_path) == "postgresql://postgres@/postgres?host=/run/sockets"
    for left in ("", "no number\n", f"{2**22 + 1}\n/data\n1\n5432\n/run\n"):
        pid.write_text(left)
        assert running_at(tmp_path) == ""


def test_the_age_of_backups(database_url: str, tmp_path: Path) -> None:
    assert "broken backups: none is in " in told_of(tmp_path)
    assert "have cron run `dailygrad backup" in told_of(tmp_path)
    first, second = tmp_path / "a.dump", tmp_path / "b.dump"
    with first.open("wb") as file:
        take(database_url, file)
    with first.open("rb") as file:
        at, _ = read_header(file)
    first.chmod(0o600)
    assert "ok backups: the newest of 1 is 2 h old and has " in told_of(tmp_path, at + timedelta(hours=2))
    assert "broken backups: the newest of 1 is 27 h old" in told_of(tmp_path, at + MAX_AGE + HOUR)
    first.chmod(0o644)
    assert "can be read by others: its mode is 0644 | chmod 600 " in told_of(tmp_path)
    with psycopg.connect(libpq_url(database_url)) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    dumped_to(second, database_url)
    os.utime(second, (first.stat().st_mtime + 9,) * 2)
    assert "update Dailygrad first" in told_of(tmp_path)
    second.write_bytes(first.read_bytes()[:200])
    os.utime(second, (first.stat().st_mtime + 9,) * 2)
    assert "broken backups: b.dump cannot be restored | the backup is damaged" in told_of(tmp_path)
    assert "broken backups: " in told_of(tmp_path / "nowhere")


def told_of(folder: Path, at: datetime = AT) -> str:
    return lines(findings([examine_backups(folder, at)]))


def test_what_is_secret_in_the_environment_is_known(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("first-key, second-key\n")
    hiding = Redaction()
    hiding.add(
        *secrets_in(
            {
                "DATABASE_URL": "postgresql://me:p%40ss-word@db/quiz",
                "DAILYGRAD_TOKEN_KEY_FILE": str(key),
                "DAILYGRAD_SERVICE_TOKEN": "of-the-service",
                "DISCORD_TOKEN": "of-discord",
                "DAILYGRAD_LOG_LEVEL": "info",
                "HOME": "/root",
            }
        )
    )
    said = hiding.text("p@ss-word p%40ss-word first-key second-key of-the-service of-discord info /root")
    assert said == "[hidden] " * 6 + "info /root"
