"""Compose under faults: containers that are killed, replaced, or hang."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from service.store.monitoring import LEADER_LOCK
from tests.container.engine import said
from tests.container.whole import LASTING, Report, Whole, script

pytestmark = [pytest.mark.container, pytest.mark.timeout(1500)]

TWO = ("--scale", "worker=2", "--scale", "service=2")
LEADING = (
    "select host(a.client_addr) from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' "
    f"and l.granted and (l.classid::bigint << 32) + l.objid::bigint = {LEADER_LOCK}"
)
MEGABYTES = {"B": 1e-6, "KiB": 1024 / 1e6, "MiB": 1024**2 / 1e6, "GiB": 1024**3 / 1e6}


def memory(whole: Whole) -> dict[str, float]:
    """Returns the most memory that a container of each service uses now, megabytes."""
    words = ("docker", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}", *whole.containers(*LASTING))
    found: dict[str, float] = {}
    for line in said(*words).stdout.splitlines():
        name, used = line.split()[:2]
        service = name.split("-")[-2]
        number, unit = re.fullmatch(r"([\d.]+)(\w+)", used).groups()  # type: ignore[union-attr]
        found[service] = max(found.get(service, 0), float(number) * MEGABYTES[unit])
    return found


def eventually(what: Callable[[], bool], seconds: float = 120) -> float:
    """Waits until a condition holds; returns how long that took."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < seconds, "it did not come"
        time.sleep(0.1)
    return time.monotonic() - began


def healthy(container: str) -> bool:
    return said("docker", "inspect", "--format", "{{.State.Health.Status}}", container).stdout.strip() == "healthy"


@contextmanager
def burst(whole: Whole) -> Iterator[list[str]]:
    """Sends answers and runs during the block; the list has the counts afterwards."""
    told: list[str] = []
    token = whole.compose("exec", "-T", "service", "cat", "/run/keys/service_token").strip()
    with whole.began("web", "python", "-c", script("burst.py"), token) as process:
        try:
            yield told
        finally:
            whole.tried("exec", "-T", "web", "touch", "/tmp/enough")
            said_, complaints = process.communicate(timeout=400)
    assert process.returncode == 0, complaints[-3000:]
    told.append(said_)


def test_replacing_one_after_the_other_in_a_burst_of_answers_loses_none(whole: Whole, measured: Report) -> None:
    whole.up(*TWO)
    idle = memory(whole)
    most = dict(idle)
    took = []
    with burst(whole) as told:
        eventually(lambda: int(whole.sql("select count(*) from answer where event_id like 'answer:%'")) >= 3)
        for one in (*whole.containers("service"), *whole.containers("worker")):
            began = time.monotonic()
            # Like a rolling update: stop one, and replace the next only when it is healthy again.
            assert said("docker", "restart", "--time", "30", one).returncode == 0
            eventually(partial(healthy, one))
            took.append(time.monotonic() - began)
            most = {name: max(most[name], used) for name, used in memory(whole).items()}
    seen = json.loads(told[0])
    again, waited = seen.pop("called again", 0), seen.pop("asked to wait", 0)
    answered = seen["judging"]
    assert set(seen) == {"judging", "run ok"}, f"{seen}\n{whole.warnings('service', 'worker', 'sandbox')}"
    in_burst = "from answer join round on round.id = round_id where event_id like 'answer:%' and name like 'm%'"
    assert whole.sql(f"select count(*), count(distinct member_id) {in_burst}") == f"{answered}|{answered}"
    judged = f"select count(*) from verdict where answer_id in (select answer.id {in_burst})"
    eventually(lambda: whole.sql(judged) == str(answered))
    measured["replaced in a burst"] = (
        f"2 services and 2 workers, {min(took):.0f} to {max(took):.0f} s each; {answered} answers and "
        f"{seen['run ok']} runs, 0 lost; {again} calls made again, {waited} asked to wait"
    )
    limits = {name: whole.inspected(name)[0]["HostConfig"]["Memory"] / 1e6 for name in LASTING}
    for name in LASTING:
        measured[f"memory of {name}"] = (
            f"{idle[name]:.0f} MB idle, {most[name]:.0f} MB in the burst, {limits[name]:.0f} MB at most"
        )
        assert most[name] < limits[name]


def leading(whole: Whole) -> list[tuple[str, str]]:
    """Returns the address and container of the leader; None if no running container leads."""
    leader = whole.sql(LEADING)
    return [
        (leader, one["Id"])
        for one in whole.inspected("worker")
        if leader in {network["IPAddress"] for network in one["NetworkSettings"]["Networks"].values()}
    ]


def test_when_the_leading_worker_is_killed_the_other_leads_within_seconds(whole: Whole, measured: Report) -> None:
    whole.up(*TWO)
    # After a kill, the database may report the old leader for a moment.
    found: list[tuple[str, str]] = []

    def led() -> bool:
        found[:] = leading(whole)
        return found != []

    eventually(led)
    leader, killed = found[0]
    began = time.monotonic()
    assert said("docker", "kill", killed).returncode == 0
    eventually(lambda: whole.sql(LEADING) not in ("", leader))
    took = time.monotonic() - began
    measured["the leading worker killed"] = f"another leads after {took:.1f} s, with the time to find out"
    assert said("docker", "start", killed).returncode == 0
    eventually(partial(healthy, killed))


def test_processes_that_hang_are_killed_and_started_again(whole: Whole, measured: Report) -> None:
    whole.up()
    hanging = {service: whole.containers(service)[0] for service in ("service", "worker")}
    before = {service: started_at(container) for service, container in hanging.items()}
    # Every process but the container's first and the one that runs this.
    stop = "import os, signal; os.kill(-1, signal.SIGSTOP)"
    for container in hanging.values():
        assert said("docker", "exec", container, "python", "-c", stop).returncode == 0
    began = time.monotonic()
    for service, container in hanging.items():
        eventually(partial(started_again, container, before[service]), 200)
        took = time.monotonic() - began
        measured[f"a {service} that hangs"] = f"is killed and started again after {took:.0f} s"
    for container in hanging.values():
        eventually(partial(healthy, container))


def started_at(container: str) -> str:
    return said("docker", "inspect", "--format", "{{.State.StartedAt}}", container).stdout


def started_again(container: str, before: str) -> bool:
    return started_at(container) != before
