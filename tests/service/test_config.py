"""Settings from the environment, and one clear sentence for each that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.config import InvalidSettings, read_command_settings, read_settings

URL = "postgresql://quiz:p%40ss@db:5432/quiz"
TOKEN = "0123456789abcdef"


def test_given_settings_are_enough() -> None:
    settings = read_settings(database_url=URL, service_token=TOKEN)
    assert (settings.token, settings.host, settings.port, settings.log_level) == (TOKEN, "127.0.0.1", 8000, "info")


@pytest.mark.parametrize(
    ("given", "places"),
    [
        (None, ()),
        ("/run/dailygrad/sandbox.sock", ("/run/dailygrad/sandbox.sock",)),
        ("/run/dailygrad:/srv/gpu.sock", ("/run/dailygrad", "/srv/gpu.sock")),
    ],
)
def test_there_may_be_several_sandboxes(given: str | None, places: tuple[str, ...]) -> None:
    settings = read_settings(database_url=URL, service_token=TOKEN, sandbox_socket=given)
    assert settings.sandbox_paths == tuple(map(Path, places))


def test_a_secret_does_not_show() -> None:
    assert TOKEN not in repr(read_settings(database_url=URL, service_token=TOKEN))


def test_the_token_can_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    assert read_settings(database_url=URL, service_token_file=path).token == TOKEN


def test_there_may_be_several_tokens_while_they_are_changed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN[::-1]}\n{TOKEN}\n", encoding="utf-8")
    for given in ({"service_token": f"{TOKEN[::-1]},{TOKEN}"}, {"service_token_file": path}):
        settings = read_settings(database_url=URL, **given)
        assert (settings.token, tuple(settings.tokens.all)) == (TOKEN[::-1], (TOKEN[::-1], TOKEN))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"service_token": f"{TOKEN},short", "database_url": URL}, "DAILYGRAD_SERVICE_TOKEN: 5 characters; set"),
        ({"service_token": TOKEN, "database_url": "mysql://db/quiz"}, "DATABASE_URL: it must look like postgresql://"),
        ({"service_token": TOKEN, "database_url": "nonsense"}, "DATABASE_URL: it must look like postgresql://"),
        (
            {"service_token": TOKEN, "database_url": URL, "traces_url": "jaeger:4318"},
            "DAILYGRAD_TRACES_URL: it must be a URL such as http://collector:4318.",
        ),
        (
            {"service_token": TOKEN, "database_url": URL, "contestant_url": "http://a:b@c/v1"},
            "DAILYGRAD_CONTESTANT_URL: it is not an address",
        ),
        (
            {"service_token": TOKEN, "database_url": URL, "contestant_url": "file:///v1"},
            "DAILYGRAD_CONTESTANT_URL: it is not an address",
        ),
        (
            {"service_token": TOKEN, "database_url": URL, "contestant_url": "http://c/v1?key=s"},
            "DAILYGRAD_CONTESTANT_URL: it is not an address",
        ),
        (
            {"service_token": TOKEN, "database_url": URL, "contestant_url": "http://c:80/v1"},
            "DAILYGRAD_CONTESTANT_MODEL must name the model",
        ),
        (
            {
                "service_token": TOKEN,
                "database_url": URL,
                "contestant_url": "http://c/v1",
                "contestant_model": "m",
                "contestant_key_file": Path("/nowhere"),
            },
            "DAILYGRAD_CONTESTANT_KEY_FILE: /nowhere cannot be read",
        ),
        ({"database_url": URL}, "DAILYGRAD_SERVICE_TOKEN: it is not set; set at least 16"),
        ({"database_url": URL, "service_token": "short"}, "DAILYGRAD_SERVICE_TOKEN: 5 characters; set at least 16"),
        ({"database_url": URL, "service_token_file": Path("/nowhere")}, "/nowhere cannot be read"),
        ({"database_url": URL, "service_token": TOKEN, "bot_tokens": "x" * 20}, "DAILYGRAD_BOT_TOKENS: token 1 has no"),
        ({"database_url": URL, "service_token": TOKEN, "bot_tokens": f"web={TOKEN}"}, "is also a service token"),
        ({"database_url": URL, "service_token": TOKEN, "bot_tokens_file": Path("/nowhere")}, "BOT_TOKENS_FILE: /nowh"),
        ({"database_url": URL, "service_token": TOKEN, "port": 99999}, "DAILYGRAD_PORT: input should be less than"),
        ({"database_url": URL, "service_token": TOKEN, "log_level": "loud"}, "DAILYGRAD_LOG_LEVEL: input should be"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidSettings, match=said) as wrong:
        read_settings(**given)
    assert "\n" not in str(wrong.value)


def test_no_message_shows_a_secret() -> None:
    with pytest.raises(InvalidSettings) as wrong:
        read_settings(database_url="mysql://quiz:hunter2@db/quiz", service_token="hunter2")
    assert "hunter2" not in str(wrong.value)


def test_the_database_password_may_stand_in_a_file(tmp_path: Path) -> None:
    place = tmp_path / "password"
    place.write_text("p@ss/word\n")
    settings = read_settings(
        database_url="postgresql://dailygrad@postgres:5432/dailygrad",
        database_password_file=place,
        service_token="x" * 16,
    )
    assert settings.database_url == "postgresql://dailygrad:p%40ss%2Fword@postgres:5432/dailygrad"
    with pytest.raises(InvalidSettings, match=r"DATABASE_PASSWORD_FILE: .*cannot be read"):
        read_settings(
            database_url="postgresql://dailygrad@postgres/dailygrad",
            database_password_file=tmp_path / "none",
            service_token="x" * 16,
        )


def test_a_command_reaches_workers_with_the_token_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/dailygrad")
    monkeypatch.delenv("DAILYGRAD_SERVICE_TOKEN", raising=False)
    assert read_command_settings().token != TOKEN
    monkeypatch.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
    assert read_command_settings().token == TOKEN


CERTIFICATES = {
    "DAILYGRAD_SANDBOX_CERT": "/run/tls.crt",
    "DAILYGRAD_SANDBOX_KEY": "/run/tls.key",
    "DAILYGRAD_SANDBOX_CA": "/run/ca.crt",
}


def test_sandboxes_on_other_machines_are_named_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        **CERTIFICATES,
        "DAILYGRAD_SANDBOX_URL": "tls://cpu:8443 tls://gpu, tls://[fd00::1]:99",
    }.items():
        monkeypatch.setenv(name, value)
    settings = read_settings(database_url="postgresql://localhost/x", service_token="x" * 16)
    assert settings.sandbox_nodes == (("cpu", 8443), ("gpu", 8443), ("fd00::1", 99))
    assert settings.sandbox_certificates is not None


@pytest.mark.parametrize(
    "url", ["http://cpu:8443", "tls://", "tls://cpu:0", "tls://cpu:70000", "tls://a/b", "cpu:8443"]
)
def test_an_address_of_a_sandbox_that_is_none_stops_the_start(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name, value in {**CERTIFICATES, "DAILYGRAD_SANDBOX_URL": url}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSettings, match="DAILYGRAD_SANDBOX_URL"):
        read_settings(database_url="postgresql://localhost/x", service_token="x" * 16)


@pytest.mark.parametrize("missing", CERTIFICATES)
def test_a_sandbox_on_another_machine_needs_all_three_files(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name, value in {**CERTIFICATES, "DAILYGRAD_SANDBOX_URL": "tls://cpu"}.items():
        if name != missing:
            monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSettings, match="DAILYGRAD_SANDBOX_CERT, _KEY and _CA"):
        read_settings(database_url="postgresql://localhost/x", service_token="x" * 16)
