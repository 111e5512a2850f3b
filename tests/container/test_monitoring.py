"""Checks the files of the profile `monitoring` without an engine."""

from __future__ import annotations

import json
import re

import yaml

from tests.container.engine import ROOT
from tests.container.test_files import BOTS, SERVICES, WHOLE


def test_monitored_targets_exist() -> None:
    for name in ("prometheus", "grafana", "alertmanager", "jaeger", "postgres-exporter"):
        assert SERVICES[name]["profiles"] == ["monitoring"]
        for volume in SERVICES[name]["volumes"]:
            source = re.sub(r"^\$\{\w+:-([^}]+)\}", r"\1", volume).split(":")[0]
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
    assert {name for name, _ in asked} == {"service", "worker", "postgres-exporter", *BOTS}
    assert {port for _, port in asked} == {9100, 9187}
    (sent,) = [found for one in config["alerting"]["alertmanagers"] for found in one["dns_sd_configs"]]
    assert (sent["names"], sent["port"]) == (["alertmanager"], 9093)


def test_every_process_reaches_the_receiver_of_traces() -> None:
    config = yaml.safe_load((ROOT / "service/monitoring/jaeger.yml").read_text())
    assert config["receivers"] == {"otlp": {"protocols": {"http": {"endpoint": "0.0.0.0:4318"}}}}
    asked = config["extensions"]["jaeger_query"]
    assert (asked["http"]["endpoint"], asked["grpc"]["endpoint"]) == ("0.0.0.0:16686", "127.0.0.1:16685")
    jaeger = SERVICES["jaeger"]
    assert jaeger["volumes"] == [f"./service/monitoring/jaeger.yml:{jaeger['command'][1]}:ro"]
    for name in ("service", "worker", *BOTS):
        assert SERVICES[name]["environment"]["DAILYGRAD_TRACES_URL"] == "${DAILYGRAD_TRACES_URL:-}"
        assert set(SERVICES[name]["networks"]) & {"calls", "runs"} & set(jaeger["networks"])
    example = (ROOT / ".env.example").read_text()
    assert "http://jaeger:4318 " in example, "the receiver's name and port"


def test_an_alert_reaches_somebody_by_its_severity() -> None:
    config = yaml.safe_load((ROOT / "service/monitoring/alertmanager.yml").read_text())
    receivers = {one["name"]: one["slack_configs"][0] for one in config["receivers"]}
    assert config["route"]["receiver"] == "tickets"
    assert config["route"]["routes"][0]["matchers"] == ['severity="page"']
    assert config["route"]["routes"][0]["receiver"] == "pages"
    for name, slack in receivers.items():
        assert slack["api_url_file"] == f"/run/alertmanager/{name}_url"
        assert ".Annotations.runbook" in slack["text"]
    assert "/run/alertmanager:ro" in " ".join(SERVICES["alertmanager"]["volumes"])
