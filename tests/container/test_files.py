"""Checks docker-compose.yml and .env.example without an engine: access between services, and known settings."""

from __future__ import annotations

import json
import re
import subprocess
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.discord.settings import DiscordSettings
from bot.settings import BotSettings, OidcSettings
from bot.slack.settings import SlackSettings
from service import healthcheck
from service.config import Settings
from service.healthcheck import FILE_VARIABLE
from service.store.monitor_role import MONITOR_ROLE
from tests.container.engine import ROOT, compose
from tests.docs.pages import DOCS, blocks_of

POINT_IN_TIME = "deploy/point-in-time.yml"
WHOLE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
TEXT = (ROOT / "docker-compose.yml").read_text() + (ROOT / POINT_IN_TIME).read_text()
SERVICES: dict[str, Any] = WHOLE["services"]
EXAMPLE = (ROOT / ".env.example").read_text()
BOTS = ("web", "discord", "slack")
OURS = ("service", "worker", "migrate", *BOTS)


def given(service: str) -> dict[str, str]:
    return {name: str(value) for name, value in (SERVICES[service].get("environment") or {}).items()}


def names_of(settings: Any) -> set[str]:
    """Returns the variables that a settings class reads."""
    found = set()
    for name, field in settings.model_fields.items():
        alias = field.validation_alias
        prefix = settings.model_config["env_prefix"] or "DAILYGRAD_"
        named = [str(one) for one in getattr(alias, "choices", [alias])] if alias else [f"{prefix}{name}".upper()]
        found |= set(named)
    return found | ({f"{name}_FILE" for name in found} if settings is SlackSettings else set())


def test_the_worker_alone_reaches_the_sandbox_and_the_service_the_worker() -> None:
    mounting = {name for name, one in SERVICES.items() if any("sandbox:" in str(v) for v in one.get("volumes", ()))}
    assert mounting == {"worker", "sandbox", "sandbox-gpu"}
    assert {name for name, one in SERVICES.items() if "10002" in one.get("group_add", ())} == {"worker"}
    assert "DAILYGRAD_SANDBOX_SOCKET" not in given("service") | given("migrate")
    assert given("service")["DAILYGRAD_WORKER_URL"] == f"http://worker:{given('worker')['DAILYGRAD_RELAY_PORT']}"


@pytest.mark.parametrize("service", OURS)
def test_every_setting_is_one_that_the_process_reads(service: str) -> None:
    known = names_of(BotSettings) if service in BOTS else names_of(Settings)
    more = {"web": OidcSettings, "discord": DiscordSettings, "slack": SlackSettings}
    known |= names_of(more[service]) if service in more else set()
    assert set(given(service)) <= known | {FILE_VARIABLE, "FORWARDED_ALLOW_IPS"}  # read by uvicorn


def test_the_worker_is_given_how_long_rows_are_kept_by_default_as_long_as_elsewhere() -> None:
    kept = {name: field.default for name, field in Settings.model_fields.items() if name.startswith("retention_")}
    assert len(kept) == 6
    for name, days in kept.items():
        variable = f"DAILYGRAD_{name.upper()}"
        assert given("worker")[variable] == f"${{{variable}:-{days}}}"


def test_every_variable_of_an_operator_is_explained_and_none_is_explained_in_vain() -> None:
    used = set(re.findall(r"\$\{(\w+)", TEXT))
    explained = set(re.findall(r"^(\w+)=", EXAMPLE, re.M))
    # For builds and tests.
    assert used - explained == {"SANDBOX_CALLER", "SANDBOX_GPU_INDEX"}
    assert explained <= used


def test_what_is_explained_is_what_holds_where_it_is_not_given() -> None:
    default = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", TEXT))
    for name, value in re.findall(r"^(\w+)=(.*)$", EXAMPLE, re.M):
        assert default.get(name, "") == value, name


def test_only_this_machine_reaches_a_port_and_no_metrics_are_published() -> None:
    ports = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert set(ports) == {"web", "slack", "grafana", "jaeger", "caddy"}
    # Caddy is there to be reached: it serves TLS.
    assert ports.pop("caddy") == ["${HTTPS_ADDRESS:-0.0.0.0:443}:443", "${HTTP_ADDRESS:-0.0.0.0:80}:80"]
    for published in ports.values():
        (port,) = published
        assert re.fullmatch(r"\$\{[A-Z]+_ADDRESS:-127\.0\.0\.1:\d+\}:\d+", port)
    assert {given(name)["DAILYGRAD_METRICS_PORT"] for name in OURS} == {"9100"}


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_container_is_confined(service: str) -> None:
    one = SERVICES[service]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in one["security_opt"]
    assert 0 < one["pids_limit"] <= 512
    assert one["mem_limit"]
    assert service in ("postgres", "caddy") or one["user"].split(":")[0] not in ("", "0")
    assert "privileged" not in one
    assert one["logging"]["options"] == {"max-size": "10m", "max-file": "3"}


def seconds(text: str) -> int:
    found = re.fullmatch(r"(\d+)s", text)
    assert found is not None, text
    return int(found[1])


@pytest.mark.parametrize("service", ["service", "worker", *BOTS])
def test_a_process_that_hangs_is_killed_within_two_minutes(service: str) -> None:
    """docs/operating.md: after four failed checks, one to two minutes."""
    check = SERVICES[service]["healthcheck"]
    *words, place, counted = check["test"]
    assert words == ["CMD", "python", "-S", "-m", "service.healthcheck"]
    assert counted == "/tmp/hangs", "without it nothing is counted, and nothing killed"
    # A check of an address waits for an answer, and then asks whether the process answers at all.
    asks = 2 * healthcheck.TIMEOUT_SECONDS if place.startswith("http") else 0
    assert seconds(check["timeout"]) > asks, "the engine would end the check before it counts"
    noticed = 0 if asks else healthcheck.MAX_AGE_SECONDS
    assert 60 <= noticed + healthcheck.MAX_HANGS * (seconds(check["interval"]) + asks) <= 120
    if not asks:
        assert given(service)[FILE_VARIABLE] == place


def test_a_container_that_is_stopped_may_finish_what_it_does() -> None:
    """A worker finishes its jobs in 20 s, the sandbox its runs in 8 s (docs/sandbox.md)."""
    for service in OURS:
        assert seconds(SERVICES[service]["stop_grace_period"]) > 20
    for service in ("sandbox", "sandbox-gpu"):
        assert seconds(SERVICES[service]["stop_grace_period"]) > 8


def test_each_part_starts_after_what_it_needs() -> None:
    waits = {
        name: {part: one["condition"] for part, one in service["depends_on"].items()}
        for name, service in SERVICES.items()
        if isinstance(service.get("depends_on"), dict)
    }
    migrated = {"migrate": "service_completed_successfully"}
    assert waits == {
        "postgres": {"keys": "service_completed_successfully"},
        "migrate": {"postgres": "service_healthy"},
        "service": migrated,
        "worker": {**migrated, "sandbox": "service_healthy"},
        "postgres-exporter": migrated,
        **{bot: {"service": "service_healthy"} for bot in BOTS},
    }
    assert SERVICES["migrate"]["entrypoint"] == [
        "sh",
        "-c",
        "python -m dailygrad migrate && python -m dailygrad bank import",
    ]


def test_the_sandboxes_share_sockets_in_memory_and_nothing_else() -> None:
    """docs/sandbox.md: the volume holds only sockets, in memory, 1 MB; the worker is in the group of its owner."""
    options = WHOLE["volumes"]["sandbox"]["driver_opts"]
    assert (options["type"], options["device"]) == ("tmpfs", "tmpfs")
    assert options["o"] == "size=1m,nr_inodes=256,mode=0750,uid=10002,gid=10002"


def test_visitors_of_grafana_can_only_look() -> None:
    grafana = given("grafana")
    assert (grafana["GF_AUTH_ANONYMOUS_ENABLED"], grafana["GF_AUTH_ANONYMOUS_ORG_ROLE"]) == ("true", "Viewer")
    assert grafana["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == grafana["GF_AUTH_DISABLE_LOGIN_FORM"] == "true"


def test_containers_beside_it_say_that_a_request_to_the_web_chat_came_by_tls() -> None:
    """Otherwise cookies behind Caddy would not be secure. Docker's networks have private addresses."""
    trusted = [ip_network(one) for one in given("web")["FORWARDED_ALLOW_IPS"].split(",")]
    for inside in ("127.0.0.1", "10.1.2.3", "172.18.0.5", "192.168.16.2"):
        assert any(ip_address(inside) in network for network in trusted), inside
    for outside in ("203.0.113.9", "172.32.0.1"):
        assert not any(ip_address(outside) in network for network in trusted), outside


def on_network(name: str) -> set[str]:
    return {service for service, one in SERVICES.items() if name in one.get("networks", ())}


def test_each_kind_of_traffic_has_a_network_and_only_one_reaches_other_machines() -> None:
    assert on_network("data") == {"postgres", "migrate", "service", "worker", "postgres-exporter"}
    assert on_network("calls") == {"service", *BOTS, "prometheus", "jaeger"}
    assert on_network("runs") == {"service", "worker", "prometheus", "jaeger"}
    assert on_network("metrics") == {"prometheus", "grafana", "alertmanager", "postgres-exporter"}
    assert on_network("edge") == {*BOTS, "grafana", "alertmanager", "jaeger", "caddy"}
    assert {name for name, one in WHOLE["networks"].items() if one != {"internal": True}} == {"edge"}
    without = {name for name, one in SERVICES.items() if "networks" not in one}
    assert without == {"keys", "sandbox", "sandbox-gpu"}
    assert {SERVICES[name]["network_mode"] for name in without} == {"none"}


def test_each_part_mounts_its_own_keys_and_nothing_mounts_them_all() -> None:
    mounted = {
        name: {str(volume).split(":")[0] for volume in one.get("volumes", ()) if "keys" in str(volume)}
        for name, one in SERVICES.items()
    }
    own = {
        "postgres": {"database-keys"},
        "postgres-exporter": {"monitor-keys"},
        # It creates the exporter's role.
        "migrate": {"service-keys", "monitor-keys"},
        "service": {"service-keys"},
        "worker": {"service-keys"},
    }
    own |= {bot: {f"{bot}-keys"} for bot in BOTS}
    assert {name: volumes for name, volumes in mounted.items() if volumes and name != "keys"} == own
    assert mounted["keys"] == {"keys"}.union(*own.values())


@pytest.mark.parametrize("image", ["service", "bot", "sandbox"])
def test_an_image_of_a_checkout_that_only_its_owner_reads_can_be_read(image: str) -> None:
    """COPY keeps modes: after `umask 077` the image's user could not read the program."""
    steps = (ROOT / image / "Dockerfile").read_text().split("\nFROM ")[-1]
    joined = steps.replace("\\\n", "")
    copied = [step for step in re.findall(r"^(COPY .*|RUN .*)", joined, re.M) if "/usr/local/app" in step]
    assert copied[0].startswith("COPY")
    assert copied[-1].endswith("find /usr/local/app ! -perm -a+r -exec chmod a+rX {} +")


def test_folders_of_keys_belong_to_who_fills_them() -> None:
    dockerfile = (ROOT / "service/Dockerfile").read_text()
    made = re.search(r"for part in ([a-z ]+); do install -d -o 10001 .* /keys/\$part", dockerfile)
    assert made is not None
    mounted = {str(volume).split(":")[1] for volume in SERVICES["keys"]["volumes"]}
    assert {f"/keys/{part}" for part in made[1].split()} == mounted, "a volume gets the owner of the image's folder"


def test_the_exporter_has_a_role_of_its_own() -> None:
    exporter = given("postgres-exporter")
    assert exporter["DATA_SOURCE_USER"] == MONITOR_ROLE
    assert (
        Path(exporter["DATA_SOURCE_PASS_FILE"]).name == Path(given("migrate")["DAILYGRAD_MONITOR_PASSWORD_FILE"]).name
    )
    assert "DAILYGRAD_MONITOR_PASSWORD_FILE" not in given("service") | given("worker")


def read_by_compose(*words: str) -> dict[str, Any]:
    """Returns the services as Compose itself reads them."""
    command = compose()
    if command is None:
        pytest.skip("no docker compose is installed here")
    done = subprocess.run(
        [*command, "-f", "docker-compose.yml", *words, "config", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


@pytest.mark.parametrize("profile", ["discord", "slack", "gpu", "monitoring", "tls"])
def test_compose_itself_reads_it(profile: str) -> None:
    assert len(read_by_compose("--profile", profile)) > 6


def test_a_token_in_a_file_is_laid_over_as_the_manual_says(tmp_path: Path) -> None:
    (override,) = [block for block in blocks_of(DOCS / "operating.md", "yaml") if "DISCORD_TOKEN_FILE" in block]
    (tmp_path / "override.yml").write_text(override)
    discord = read_by_compose("-f", str(tmp_path / "override.yml"), "--profile", "discord")["discord"]
    assert discord["environment"]["DISCORD_TOKEN"] == "", "an empty variable counts as not set"
    assert discord["environment"]["DISCORD_TOKEN_FILE"] == "/run/discord_token"
    (mounted,) = [one for one in discord["volumes"] if one["target"] == "/run/discord_token"]
    assert mounted["read_only"] is True


def test_a_second_shard_of_discord_differs_in_its_number_and_its_data() -> None:
    one, two = (
        read_by_compose("-f", "deploy/discord-shards.yml", "--profile", "discord")[name]
        for name in ("discord", "discord-1")
    )
    assert (one["environment"].pop("DISCORD_SHARDS"), two["environment"].pop("DISCORD_SHARDS")) == ("0/2", "1/2")
    sources = [[volume.pop("source") for volume in part["volumes"]] for part in (one, two)]
    assert sources == [["discord-keys", "discord"], ["discord-keys", "discord-1"]]
    assert two["networks"].pop("calls") == {"aliases": ["discord"]}, "where Prometheus looks"
    assert one["networks"].pop("calls") is None
    assert one == two


def test_the_database_takes_connections_of_every_process_that_the_manual_starts() -> None:
    """docs/scaling.md names 30 for each process, and 10 more."""
    (scaled,) = re.findall(r"^docker compose up (--scale .*)$", (ROOT / "docs/operating.md").read_text(), re.M)
    counts = {part: int(count) for part, count in re.findall(r"--scale (\w+)=(\d+)", scaled)}
    taken = SERVICES["postgres"]["command"][-1]
    assert int(re.search(r":-(\d+)\}", taken)[1]) >= 30 * (counts["service"] + counts["worker"]) + 10  # type: ignore[index]


def test_wal_archiving_adds_to_the_database_and_takes_nothing_away() -> None:
    plain, archiving = read_by_compose()["postgres"], read_by_compose("-f", POINT_IN_TIME)["postgres"]
    mounted = {one["target"] for one in archiving["volumes"]}
    assert mounted - {one["target"] for one in plain["volumes"]} == {"/point_in_time.sh", "/archive"}
    assert 'archive_command=sh /point_in_time.sh wal "%p" %f' in archiving["command"]
    assert archiving["entrypoint"][2].endswith('exec docker-entrypoint.sh "$$@"')
    assert archiving["command"][: len(plain["command"])] == plain["command"]
    changed = {"command", "entrypoint", "environment", "volumes"}
    assert {name: one for name, one in plain.items() if name not in changed} == {
        name: one for name, one in archiving.items() if name not in changed
    }
    assert plain["environment"].items() <= archiving["environment"].items()
