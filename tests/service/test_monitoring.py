"""The files for Prometheus and Grafana: they can be read, and they ask for what we tell."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from sqlalchemy.ext.asyncio import create_async_engine

from bot.core import metrics as bots
from sandbox.client import Health
from service import metrics
from service.ops.gauges import of_database, of_pool, of_sandbox
from service.store.monitoring import JobMeasure, Measures, QueueMeasure
from tests.service.promql import COUNTED, MEASURED, NoExpression, asked_by

FOLDER = Path(metrics.__file__).parent / "monitoring"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BY_PROMETHEUS = {"job", "instance"}


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    """Returns all expressions of the monitoring files."""
    return [
        *[target["expr"] for panel in panels() for target in panel["targets"]],
        *[rule["expr"] for rule in rules()],
    ]


def looked_up() -> Iterator[Metric]:
    """Collects every gauge, with data for each."""
    queue = QueueMeasure("web", 1, NOON)
    jobs = [JobMeasure("judge_answer", "todo", 1, NOON)]
    done = {"backup": NOON, "retention": NOON}
    yield from of_database((Measures([queue], queue, queue, jobs, 1, 1, 0, [("late", 1)], True, done, NOON), 0), NOON)
    yield from of_sandbox(Health(1, 0, 0, "full", ()))
    yield from of_pool(create_async_engine("postgresql+psycopg://"))


def told() -> dict[str, tuple[str, set[str]]]:
    """Returns the type and the labels of every series we export."""
    found: dict[str, tuple[str, set[str]]] = {}
    for module in (metrics, bots):
        for each in vars(module).values():
            if isinstance(each, MetricWrapperBase):
                family = next(iter(each.collect()))
                names = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
                labels = set(each._labelnames)
                for name in names:
                    kind = "gauge" if name == "" else "counter"
                    found[f"{family.name}{name}"] = (kind, labels | ({"le"} if name == "_bucket" else set()))
    for family in looked_up():
        found[family.name] = ("gauge", {label for sample in family.samples for label in sample.labels})
    return found | {
        "process_resident_memory_bytes": ("gauge", set()),
        "process_cpu_seconds_total": ("counter", set()),
        "up": ("gauge", set()),
        # Of PostgreSQL's exporter.
        "pg_settings_max_connections": ("gauge", set()),
        "pg_stat_activity_count": ("gauge", {"datname", "state"}),
        "pg_stat_activity_max_tx_duration": ("gauge", {"datname", "state"}),
        "pg_stat_archiver_failed_count": ("counter", set()),
        "pg_stat_user_tables_n_dead_tup": ("gauge", {"relname"}),
    }


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_expressions_use_exported_series_in_a_valid_way(expression: str) -> None:
    series = told()
    for asked in asked_by(expression):
        assert asked.metric in series, "nobody tells this"
        kind, labels = series[asked.metric]
        assert asked.labels <= labels | BY_PROMETHEUS
        assert not (asked.over in COUNTED and kind == "gauge"), "a gauge has no rate"
        assert not (asked.over in MEASURED and kind == "counter"), "a counter starts anew with its process"


def test_everything_we_tell_is_shown_or_watched() -> None:
    asked = {each.metric for expression in expressions() for each in asked_by(expression)}
    of_histograms = {name for name in told() if name.endswith(("_sum", "_count"))}
    assert set(told()) - asked - of_histograms == set()


@pytest.mark.parametrize(
    "wrong",
    [
        "sum(",
        "sum by (a (b)",
        "rate(dailygrad_x)",
        "dailygrad_x[5m]",
        "sum(dailygrad_x))",
        'dailygrad_x{a="b}',
        'dailygrad_x{a~"b"}',
        "median(dailygrad_x)",
        "dailygrad_x >",
        "histogram_quantile(0.9)",
        "dailygrad_x § 1",
    ],
)
def test_an_invalid_expression_is_detected(wrong: str) -> None:
    with pytest.raises(NoExpression):
        asked_by(wrong)


def test_the_dashboard_is_one_that_grafana_can_show() -> None:
    board = dashboard()
    assert (board["uid"], board["title"]) == ("dailygrad", "Dailygrad")
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)
    places: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        mine = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not places & mine, f"{panel['title']} lies on another panel"
        places |= mine
    for panel in panels():
        assert panel["description"].endswith(".")
        assert panel["datasource"] == {"type": "prometheus", "uid": "prometheus"}
        assert [target["refId"] for target in panel["targets"]] == [*"ABCD"[: len(panel["targets"])]]


def test_every_alert_names_the_problem_and_the_fix() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert re.fullmatch(r"([A-Z][a-z]+)+", rule["alert"])
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"].endswith(".")
        grouped = {label for asked in asked_by(rule["expr"]) for label in asked.labels} | BY_PROMETHEUS
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= grouped


def test_prometheus_reads_every_kind_of_process_and_our_rules() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
    assert config["rule_files"] == ["alerts.yml"]
    jobs = {job["job_name"]: job["dns_sd_configs"][0]["names"] for job in config["scrape_configs"]}
    ours = {name: [name] for name in ("service", "worker", "web", "discord", "slack")}
    assert jobs == ours | {"postgres": ["postgres-exporter"]}


RUNBOOKS = FOLDER.parents[1] / "docs" / "runbooks.md"


def test_every_alert_has_a_runbook_that_it_links_to() -> None:
    page = RUNBOOKS.read_text(encoding="utf-8")
    sections = dict(
        zip(re.findall(r"^### (\w+)$", page, re.M), re.split(r"^### \w+$", page, flags=re.M)[1:], strict=True)
    )
    assert [*sections] == [rule["alert"] for rule in rules()], "in the order of the rules"
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        assert len(sections[rule["alert"]].split()) >= 25, rule["alert"]


SAID = {
    "QuestionNotPosted": (300, "more than five minutes"),
    "OutboxStands": (900, "a quarter of an hour"),
    "AnswersNotJudged": (120, "two minutes"),
    "FirstResponsesSlow": (2, "more than two seconds"),
    "MemoryNearLimit": (0.9, "more than nine tenths"),
    "DiskNearlyFull": (0.1, "Less than a tenth"),
    "TransactionOpenTooLong": (900, "a quarter of an hour"),
    "ArchivingStopped": (1800, "half an hour"),
    "BackupTooOld": (36 * 3600, "36 hours"),
    "RetentionBehind": (3 * 24 * 3600, "three days"),
}
"""The number that a rule compares with, and how the alert's runbook says it."""


@pytest.mark.parametrize("alert", SAID)
def test_a_runbook_says_when_its_alert_fires(alert: str) -> None:
    limit, words = SAID[alert]
    (rule,) = (one for one in rules() if one["alert"] == alert)
    compared = re.search(r"[<>] ([\d.]+)$", rule["expr"])
    assert compared is not None and float(compared[1]) == limit
    page = " ".join(RUNBOOKS.read_text(encoding="utf-8").split())
    assert words in page.partition(f"### {alert} ")[2].partition("###")[0]


def test_a_page_waits_for_nobody_and_comes_again_sooner() -> None:
    """A route for each severity: docs/operating.md names the two files of URLs."""
    config = yaml.safe_load((FOLDER / "alertmanager.yml").read_text(encoding="utf-8"))
    (page,) = config["route"]["routes"]
    assert page["matchers"] == ['severity="page"']
    files = {one["name"]: one["slack_configs"][0]["api_url_file"].rpartition("/")[2] for one in config["receivers"]}
    assert (files[page["receiver"]], files[config["route"]["receiver"]]) == ("pages_url", "tickets_url")
    (inhibited,) = config["inhibit_rules"]
    assert inhibited["target_matchers"] == ['severity="ticket"'], "a page is never held back"


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus's promtool is not installed")
def test_prometheus_itself_takes_the_files() -> None:
    for words in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
        said = subprocess.run(["promtool", "check", words[0], FOLDER / words[1]], capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
