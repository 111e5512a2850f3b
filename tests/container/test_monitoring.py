"""Checks the files of the profile `monitoring` without an engine."""

from __future__ import annotations

import json

import yaml

from tests.container.engine import ROOT
from tests.container.test_files import BOTS, SERVICES, WHOLE


def test_monitored_targets_exist() -> None:
    for name in ("prometheus", "grafana"):
        assert SERVICES[name]["profiles"] == ["monitoring"]
        for volume in SERVICES[name]["volumes"]:
            source = volume.split(":")[0]
            assert not source.startswith(".") or (ROOT / source).is_file(), source
    json.loads((ROOT / "service/monitoring/dashboard.json").read_text())
    source = yaml.safe_load((ROOT / "service/monitoring/grafana-source.yml").read_text())
    assert source["datasources"][0]["url"] == "http://prometheus:9090"
    boards = yaml.safe_load((ROOT / "service/monitoring/grafana-boards.yml").read_text())
    (provider,) = boards["providers"]
    assert f":{provider['options']['path']}/dashboard.json:" in " ".join(SERVICES["grafana"]["volumes"])


def test_monitoring_uses_no_compose_secrets_or_configs() -> None:
    assert not {"secrets", "configs"} & (set(WHOLE) | {key for one in SERVICES.values() for key in one})


def test_prometheus_asks_the_containers_by_their_names_and_ports() -> None:
    config = yaml.safe_load((ROOT / "service/monitoring/prometheus.yml").read_text())
    asked = {
        (name, int(found.get("port", 0)))
        for job in config["scrape_configs"]
        for found in job["dns_sd_configs"]
        for name in found["names"]
    }
    assert {name for name, _ in asked} == {"service", "worker", *BOTS}
    assert {port for _, port in asked} <= {9100, 8000}
