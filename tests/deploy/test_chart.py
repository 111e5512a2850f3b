"""The Helm chart: rendered by Helm's own engine, valid by the schemas of Kubernetes, and as confined as Compose."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.types import Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from bot.discord.settings import DiscordSettings
from bot.settings import BotSettings, OidcSettings
from bot.slack.settings import SlackSettings
from service.config import Settings
from service.healthcheck import FILE_VARIABLE, MAX_AGE_SECONDS
from tests.container.test_files import SERVICES as CONTAINERS
from tests.container.test_files import names_of

helm = pytest.importorskip("helm_python.chart", reason="Helm's engine is not installed: make test-chart")
kubernetes = pytest.importorskip("kubernetes_validate", reason="the schemas are not installed: make test-chart")

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/chart"
VERSIONS = ("1.30", "1.33", "1.36")  # the oldest that has appArmorProfile, and newer ones
CUSTOM = {"Cluster", "ScaledObject", "ServiceMonitor", "PrometheusRule"}
"""Kinds of operators, of which no schema is installed here."""
BOTS = {
    "discord": {"enabled": True, "shards": 4},
    "slack": {"enabled": True, "http": True},
    "web": {
        "ingress": {"enabled": True},
        "oidc": {"issuer": "https://login.example.com", "clientId": "quiz", "adminGroup": "quiz-admins"},
    },
}
EVERYTHING: dict[str, Any] = {
    "bots": BOTS,
    "sandbox": {"pools": {"gpu": {"enabled": True, "autoscaling": {"type": "queue"}}}},
    "service": {"autoscaling": {"type": "cpu"}},
    "worker": {"autoscaling": {"type": "cpu"}},
    "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
    "database": {"bundled": {"enabled": True, "backup": {"destinationPath": "s3://backups/"}}},
    "traces": {"endpoint": "http://collector.monitoring:4318"},
    "image": {"digests": {"service": f"sha256:{'0' * 64}"}, "pullSecrets": [{"name": "registry"}]},
}
VALUES: dict[str, dict[str, Any]] = {"defaults": {}, "everything": EVERYTHING, "external": {"bots": BOTS}}
Manifest = dict[str, Any]


def render(values: dict[str, Any], name: str = "quiz") -> list[Manifest]:
    files: dict[str, str] = helm.Chart.load(str(CHART)).render(copy.deepcopy(values), name=name, namespace="team")
    return [one for text in files.values() for one in yaml.safe_load_all(text) if one]


@pytest.fixture(scope="module")
def everything() -> list[Manifest]:
    return render(EVERYTHING)


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """Returns the manifests of a kind by their part. There must be one."""
    found = {one["metadata"]["labels"]["app.kubernetes.io/component"]: one for one in manifests if one["kind"] == kind}
    assert found, kind
    return found


def pods(manifests: list[Manifest]) -> dict[str, dict[str, Any]]:
    """Returns every pod's template by its part."""
    kinds = ("Deployment", "StatefulSet", "Job")
    label = "app.kubernetes.io/component"
    return {one["metadata"]["labels"][label]: one["spec"]["template"] for one in manifests if one["kind"] in kinds}


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_helm_lint_finds_nothing(values: dict[str, Any]) -> None:
    found = helm.lint(str(CHART), copy.deepcopy(values), strict=True)
    assert found["errors"] == []
    assert {one["error"] for one in found["messages"]} <= {"icon is recommended"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_every_manifest_is_valid_by_the_schemas_of_kubernetes(values: dict[str, Any], version: str) -> None:
    manifests = render(values)
    assert len(manifests) >= 20
    for one in manifests:
        if one["kind"] not in CUSTOM:
            kubernetes.validate(one, version, strict=True)


def test_a_broken_manifest_is_found() -> None:
    broken = copy.deepcopy(next(one for one in render({}) if one["kind"] == "Deployment"))
    broken["spec"]["template"]["spec"]["containers"][0]["readnessProbe"] = {}
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(broken, VERSIONS[1], strict=True)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"servce": {}}, "servce"),
        ({"service": {"autoscaling": {"type": "queue"}}}, "type"),
        ({"logLevel": "loud"}, "logLevel"),
        ({"image": {"digests": {"service": "latest"}}}, "digests"),
        ({"sandbox": {"pools": {"GPU!": {"enabled": True}}}}, "GPU!"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(Exception, match=named):
        helm.Chart.load(str(CHART)).validate_schema(wrong)


def test_the_schema_knows_every_default() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert set(values) | {"global"} == set(schema["properties"])
    helm.Chart.load(str(CHART)).validate_schema(values)


def test_every_container_is_confined(everything: list[Manifest]) -> None:
    seen = 0
    for part, pod in pods(everything).items():
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True, part
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, part
        assert spec["automountServiceAccountToken"] is False, part
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), part
        assert not any("hostPath" in volume for volume in spec["volumes"]), part
        for one in containers(pod):
            security = one["securityContext"]
            assert security["readOnlyRootFilesystem"] is True, one["name"]
            assert security["allowPrivilegeEscalation"] is False, one["name"]
            assert security["capabilities"] == {"drop": ["ALL"]}, one["name"]
            assert not security["privileged"], one["name"]
            assert security.get("runAsUser", spec["securityContext"].get("runAsUser", 0)) > 10000, one["name"]
            assert "memory" in one["resources"]["limits"], one["name"]
            assert "cpu" in one["resources"]["requests"], one["name"]
            seen += 1
    assert seen > 12


def test_users_are_those_of_the_images(everything: list[Manifest]) -> None:
    for part, pod in pods(everything).items():
        for one in containers(pod):
            image = re.search(r"dailygrad-([a-z]+)", one["image"])
            assert image is not None
            text = (ROOT / image[1] / "Dockerfile").read_text(encoding="utf-8")
            user = one["securityContext"].get("runAsUser", pod["spec"]["securityContext"].get("runAsUser"))
            assert f"USER {user}:" in text or one["name"] == "gate", part


def test_the_sandbox_alone_has_a_profile_of_its_own(everything: list[Manifest]) -> None:
    found = {}
    for part, pod in pods(everything).items():
        for one in containers(pod):
            if (profile := one["securityContext"].get("seccompProfile")) is not None:
                assert one["name"] == "sandbox"
                found[part] = profile["localhostProfile"]
    assert found == {"sandbox-cpu": "dailygrad/seccomp.json", "sandbox-gpu": "dailygrad/seccomp-gpu.json"}
    for name in found.values():
        profile = json.loads((ROOT / "sandbox" / Path(name).name).read_text(encoding="utf-8"))
        assert profile["defaultAction"] == "SCMP_ACT_ERRNO"


def test_apparmor_profiles_are_those_that_nodes_have(everything: list[Manifest]) -> None:
    def profiles(manifests: list[Manifest]) -> dict[str, str | None]:
        found = {}
        for part, pod in pods(manifests).items():
            for one in containers(pod):
                profile = one["securityContext"].get("appArmorProfile")
                found[f"{part}/{one['name']}"] = profile and profile.get("localhostProfile", profile["type"])
        return found

    default = profiles(everything)
    assert {name for name, profile in default.items() if profile == "Unconfined"} == {
        "sandbox-cpu/sandbox",
        "sandbox-gpu/sandbox",
    }
    ours = profiles(render({**EVERYTHING, "appArmor": {"profile": "dailygrad", "sandbox": "dailygrad-sandbox"}}))
    gates = {name: profile for name, profile in ours.items() if name.endswith("/gate")}
    assert set(gates.values()) == {None}, "the runtime's own profile: it has a network and no jail"
    for name in set(ours) - set(gates):
        wanted = "dailygrad-sandbox" if name.endswith("/sandbox") else "dailygrad"
        assert ours[name] == wanted
        assert f"profile {wanted} " in (ROOT / "deploy/apparmor" / wanted).read_text(encoding="utf-8")


def test_sign_in_with_an_openid_provider(everything: list[Manifest]) -> None:
    def given(manifests: list[Manifest]) -> dict[str, str]:
        (web,) = containers(pods(manifests)["web"])
        return {one["name"]: one["value"] for one in web["env"] if one["name"].startswith("DAILYGRAD_OIDC_")}

    assert given(render({})) == {}
    found = given(everything)
    assert found["DAILYGRAD_OIDC_URL"] == "https://quiz.example.com"
    assert found["DAILYGRAD_OIDC_CLIENT_SECRET_FILE"] == "/run/keys/oidc_client_secret"
    assert found["DAILYGRAD_OIDC_ADMIN_GROUP"] == "quiz-admins"


@pytest.mark.parametrize(
    ("caller", "scheme"),
    [("10.244.1.7", "https"), ("fd00::7", "https"), ("203.0.113.9", "http"), ("2001:db8::7", "http")],
)
async def test_the_ingress_controller_alone_says_that_a_request_came_by_tls(caller: str, scheme: str) -> None:
    (web,) = containers(pods(render({}))["web"])
    (trusted,) = (one["value"] for one in web["env"] if one["name"] == "FORWARDED_ALLOW_IPS")
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["scheme"])

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None: ...

    scope = {"type": "http", "scheme": "http", "client": (caller, 1), "headers": [(b"x-forwarded-proto", b"https")]}
    await ProxyHeadersMiddleware(app, trusted)(scope, receive, send)  # type: ignore[arg-type]
    assert seen == [scheme]


def test_the_bundled_database_has_connections_for_every_process(everything: list[Manifest]) -> None:
    (database,) = of_kind(everything, "Cluster").values()
    connections = int(database["spec"]["postgresql"]["parameters"]["max_connections"])
    running = {part: one["spec"]["replicas"] for part, one in of_kind(render({}), "Deployment").items()}
    # docs/scaling.md; an update starts one more of each.
    assert connections >= 30 * (running["service"] + running["worker"] + 2) + 10


def test_a_service_without_its_database_gets_no_calls_and_is_left_running(everything: list[Manifest]) -> None:
    (service,) = pods(everything)["service"]["spec"]["containers"]
    assert service["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert {service[probe]["httpGet"]["path"] for probe in ("livenessProbe", "startupProbe")} == {"/healthz"}


@pytest.mark.parametrize("part", ["worker", "web", "discord", "slack"])
def test_a_process_that_hangs_is_started_again_within_two_minutes(everything: list[Manifest], part: str) -> None:
    (container,) = pods(everything)[part]["spec"]["containers"]
    probe = container["livenessProbe"]
    *words, place = probe["exec"]["command"]
    assert words == ["python", "-S", "-m", "service.healthcheck"]
    assert {"name": FILE_VARIABLE, "value": place} in container["env"]
    assert 60 <= MAX_AGE_SECONDS + probe["periodSeconds"] * probe["failureThreshold"] <= 120


def test_an_update_migrates_first_and_leaves_no_gap(everything: list[Manifest]) -> None:
    for part in ("service", "worker"):
        deployment = of_kind(everything, "Deployment")[part]["spec"]
        assert deployment["strategy"] == {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
        assert [one["args"] for one in deployment["template"]["spec"]["initContainers"]] == [["migrate"]]
    job = of_kind(everything, "Job")["migrate"]
    assert job["metadata"]["name"] == "quiz-dailygrad-migrate-1", "a job of its own for each revision"
    containers_of_job = [one["args"] for one in containers(job["spec"]["template"])]
    assert containers_of_job == [["migrate"], ["bank", "import"]]


@pytest.mark.parametrize("part", ["discord", "slack"])
def test_a_bot_keeps_its_log_of_events_in_its_volume(everything: list[Manifest], part: str) -> None:
    found = of_kind(everything, "StatefulSet")[part]["spec"]
    (container,) = found["template"]["spec"]["containers"]
    (claim,) = found["volumeClaimTemplates"]
    mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert {"name": "DAILYGRAD_DATA", "value": mounted[claim["metadata"]["name"]]} in container["env"]


def test_both_sides_of_a_run_use_the_files_of_their_secret(everything: list[Manifest]) -> None:
    (worker,) = pods(everything)["worker"]["spec"]["containers"]
    env = {one["name"]: one["value"] for one in worker["env"] if "value" in one}
    assert [env[f"DAILYGRAD_SANDBOX_{name}"] for name in ("CERT", "KEY", "CA")] == [
        f"/run/sandbox/{name}" for name in ("tls.crt", "tls.key", "ca.crt")
    ]
    for pool in ("cpu", "gpu"):
        gate = next(one for one in containers(pods(everything)[f"sandbox-{pool}"]) if one["name"] == "gate")
        given = dict(itertools.pairwise(gate["args"]))
        files = [given[f"--{name}"] for name in ("cert", "key", "ca")]
        assert files == [f"/run/tls/{name}" for name in ("tls.crt", "tls.key", "ca.crt")]
        assert f"tls://quiz-dailygrad-sandbox-{pool}:8443" in env["DAILYGRAD_SANDBOX_URL"].split()


def test_a_bundled_database_archives_where_the_values_say(everything: list[Manifest]) -> None:
    (database,) = of_kind(everything, "Cluster").values()
    assert database["spec"]["backup"] == {
        "retentionPolicy": "30d",
        "barmanObjectStore": {"destinationPath": "s3://backups/"},
    }


def test_a_gpu_pool_asks_for_gpus_and_their_nodes(everything: list[Manifest]) -> None:
    pod = pods(everything)["sandbox-gpu"]["spec"]
    sandbox = next(one for one in pod["containers"] if one["name"] == "sandbox")
    assert sandbox["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert sandbox["image"].startswith("ghcr.io/OWNER/dailygrad-sandbox-gpu:")
    assert pod["runtimeClassName"] == "nvidia"
    assert pod["tolerations"][0]["key"] == "nvidia.com/gpu"
    gvisor = render({"sandbox": {"pools": {"cpu": {"runtimeClassName": "runsc"}}}})
    assert pods(gvisor)["sandbox-cpu"]["spec"]["runtimeClassName"] == "runsc"


def test_a_sandbox_has_no_secret_but_its_certificate(everything: list[Manifest]) -> None:
    for part in ("sandbox-cpu", "sandbox-gpu"):
        pod = pods(everything)[part]["spec"]
        assert [one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one] == [
            "dailygrad-sandbox-server"
        ]
        sandbox = next(one for one in pod["containers"] if one["name"] == "sandbox")
        assert [one["name"] for one in sandbox["volumeMounts"]] == ["socket"]


def test_secrets_are_named_and_none_is_made(everything: list[Manifest]) -> None:
    assert not any(one["kind"] == "Secret" for one in everything)
    text = json.dumps(everything)
    for secret in ("dailygrad-service", "dailygrad-web", "dailygrad-discord", "dailygrad-slack"):
        assert secret in text
    owners: dict[str, set[str]] = {}
    for part, pod in pods(everything).items():
        for volume in pod["spec"]["volumes"]:
            if "secret" in volume:
                owners.setdefault(volume["secret"]["secretName"], set()).add(part)
    assert owners["quiz-dailygrad-database-app"] == {"service", "worker", "migrate"} == owners["dailygrad-service"]
    assert owners["dailygrad-discord"] == {"discord"}


def variables(pod: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    for one in containers(pod):
        yield one["name"], {variable["name"] for variable in one.get("env", [])}


def test_every_variable_is_one_that_the_process_reads(everything: list[Manifest]) -> None:
    bots = {"web": names_of(OidcSettings), "discord": names_of(DiscordSettings), "slack": names_of(SlackSettings)}
    for part, pod in pods(everything).items():
        known = bots[part] | names_of(BotSettings) if part in bots else names_of(Settings)
        for name, given in variables(pod):
            if name not in ("sandbox", "gate"):
                assert given <= known | {FILE_VARIABLE, "POD_INDEX", "FORWARDED_ALLOW_IPS"}, part


def test_each_shard_of_discord_has_a_pod_that_knows_its_number(everything: list[Manifest]) -> None:
    sets = of_kind(everything, "StatefulSet")
    assert {part: one["spec"]["replicas"] for part, one in sets.items()} == {"discord": 4, "slack": 1}
    env = {one["name"]: one for one in sets["discord"]["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["DISCORD_SHARDS"]["value"] == "$(POD_INDEX)/4"
    assert [*env].index("POD_INDEX") < [*env].index("DISCORD_SHARDS"), "a variable refers to those before it"
    assert env["POD_INDEX"]["valueFrom"]["fieldRef"]["fieldPath"].endswith("['apps.kubernetes.io/pod-index']")
    assert "DISCORD_SHARDS" not in json.dumps(of_kind(render({"bots": {"discord": {"enabled": True}}}), "StatefulSet"))


def test_several_pods_of_the_web_chat_keep_nothing_of_their_own() -> None:
    web = of_kind(render({"bots": {"web": {"replicas": 3}}}), "Deployment")["web"]["spec"]
    assert web["replicas"] == 3
    assert {volume["name"] for volume in web["template"]["spec"]["volumes"]} == {"keys", "tmp"}


def test_the_rules_are_the_file_that_compose_uses(everything: list[Manifest]) -> None:
    (rule,) = of_kind(everything, "PrometheusRule").values()
    assert rule["spec"] == yaml.safe_load((ROOT / "service/monitoring/alerts.yml").read_text(encoding="utf-8"))
    assert (CHART / "files/alerts.yml").resolve() == ROOT / "service/monitoring/alerts.yml"


def test_every_process_is_monitored_under_the_job_that_the_rules_name(everything: list[Manifest]) -> None:
    jobs = {
        part: one["spec"]["endpoints"][0]["relabelings"][0]["replacement"]
        for part, one in of_kind(everything, "ServiceMonitor").items()
    }
    scraped = yaml.safe_load((ROOT / "service/monitoring/prometheus.yml").read_text(encoding="utf-8"))
    ours = {one["job_name"] for one in scraped["scrape_configs"]} & {"service", "worker", "web", "discord", "slack"}
    assert set(jobs) == set(jobs.values()) == ours


def test_every_part_has_a_budget_and_is_spread_over_nodes(everything: list[Manifest]) -> None:
    running = {part: pod for part, pod in pods(everything).items() if part != "migrate"}
    budgets = of_kind(everything, "PodDisruptionBudget")
    assert (
        set(budgets) == set(running) == {"service", "worker", "sandbox-cpu", "sandbox-gpu", "web", "discord", "slack"}
    )
    for part, pod in running.items():
        (spread,) = pod["spec"]["topologySpreadConstraints"]
        assert spread["topologyKey"] == "kubernetes.io/hostname"
        for selector in (budgets[part]["spec"]["selector"], spread["labelSelector"]):
            assert [one for one, other in running.items() if matches(selector, other["metadata"]["labels"])] == [part]
        assert budgets[part]["spec"]["maxUnavailable"] == 1


def test_autoscalers_name_what_exists(everything: list[Manifest]) -> None:
    deployments = {one["metadata"]["name"]: part for part, one in of_kind(everything, "Deployment").items()}
    for kind in ("HorizontalPodAutoscaler", "ScaledObject"):
        for part, one in of_kind(everything, kind).items():
            assert deployments[one["spec"]["scaleTargetRef"]["name"]] == part
            assert "replicas" not in of_kind(everything, "Deployment")[part]["spec"], "the autoscaler would be undone"
    (trigger,) = of_kind(everything, "ScaledObject")["sandbox-gpu"]["spec"]["triggers"]
    assert trigger["metadata"]["threshold"] == "15", "queue.seconds"
    assert trigger["metadata"]["query"] == 'max(dailygrad_answers_waiting_seconds{namespace="team"})'


def matches(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    exact = selector.get("matchLabels", {}).items() <= labels.items()
    return exact and all(
        one["operator"] == "In" and labels.get(one["key"]) in one["values"]
        for one in selector.get("matchExpressions", [])
    )


class Network:
    """What the policies allow between pods of the release."""

    def __init__(self, manifests: list[Manifest]) -> None:
        self.labels = {part: pod["metadata"]["labels"] for part, pod in pods(manifests).items()}
        self.labels["postgres"] = {"cnpg.io/cluster": "quiz-dailygrad-database"}
        self.policies = [one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"]

    def _allows(self, part: str, other: str, direction: str) -> set[int]:
        """Returns the ports that `part` may use with `other`; every port is -1."""
        to = "to" if direction == "Egress" else "from"
        applying = [
            one for one in self.policies
            if direction in one["policyTypes"] and matches(one["podSelector"], self.labels[part])
        ]  # fmt: skip
        if not applying:
            return {-1}
        return {
            port["port"]
            for policy in applying
            for rule in policy.get(direction.lower(), [])
            for peer in rule[to]
            if "podSelector" in peer and matches(peer["podSelector"], self.labels[other])
            for port in rule["ports"]
        }

    def ports(self, source: str, target: str) -> set[int]:
        """Returns the ports of `target` that `source` can reach: both ends must allow it."""
        leaving, entering = self._allows(source, target, "Egress"), self._allows(target, source, "Ingress")
        return entering if leaving == {-1} else leaving if entering == {-1} else leaving & entering


def test_pods_reach_one_another_as_containers_do(everything: list[Manifest]) -> None:
    network = Network(everything)
    reached = {
        (source, target): ports
        for source, target in itertools.permutations(network.labels, 2)
        if (ports := network.ports(source, target))
    }
    bots = ("web", "discord", "slack")
    pools = ("sandbox-cpu", "sandbox-gpu")
    assert reached == {
        **{(one, "service"): {8000} for one in bots},
        ("service", "worker"): {8001},
        **{("worker", pool): {8443} for pool in pools},
        **{(one, "postgres"): {5432} for one in ("service", "worker", "migrate")},
        # The database's own egress is the operator's matter.
    }
    # In Compose the sandbox has no network: the worker reaches it through a volume.
    for source, target in reached:
        if target not in pools:
            assert set(CONTAINERS[source]["networks"]) & set(CONTAINERS[target]["networks"]), (source, target)


def test_a_sandbox_starts_no_connection_and_looks_up_no_name(everything: list[Manifest]) -> None:
    labels = Network(everything).labels["sandbox-cpu"]
    applying = [one["spec"] for one in everything if one["kind"] == "NetworkPolicy"]
    applying = [one for one in applying if matches(one["podSelector"], labels)]
    assert any("Egress" in one["policyTypes"] for one in applying)
    assert [rule for one in applying for rule in one.get("egress", [])] == []


def test_bots_reach_the_internet_and_not_the_clusters_addresses(everything: list[Manifest]) -> None:
    edge = next(one for one in everything if one["metadata"]["name"] == "quiz-dailygrad-edge")
    (block,) = [peer["ipBlock"] for rule in edge["spec"]["egress"] for peer in rule["to"] if "ipBlock" in peer]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} == set(block["except"])


@pytest.mark.parametrize("internet", ["0.0.0.0/0", "::/0", "203.0.113.0/24", "10.0.0.0/8"])
def test_addresses_that_are_excepted_lie_inside_those_that_are_allowed(internet: str) -> None:
    """Kubernetes refuses others."""
    manifests = render({"networkPolicies": {"internet": internet, "private": ["10.1.2.0/24"]}})
    edge = next(one for one in manifests if one["metadata"]["name"] == "quiz-dailygrad-edge")
    outside, inside = (peer["ipBlock"] for peer in edge["spec"]["egress"][1]["to"])
    assert outside["cidr"] == internet
    for one in outside.get("except", []):
        assert ip_network(one).subnet_of(ip_network(internet))  # type: ignore[arg-type]
    assert bool(outside.get("except")) is internet.endswith("/0")
    assert inside == {"cidr": "10.1.2.0/24"}


def test_a_database_outside_is_reached_at_its_addresses_only() -> None:
    manifests = render({"database": {"host": "db.example.com", "cidr": "10.1.2.3/32", "port": 6432}})
    data = next(one for one in manifests if one["metadata"]["name"] == "quiz-dailygrad-data")
    (rule,) = data["spec"]["egress"]
    assert rule == {"to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}], "ports": [{"protocol": "TCP", "port": 6432}]}
    assert not any(one["kind"] == "Cluster" for one in manifests)
    (env,) = [one for one in pods(manifests)["worker"]["spec"]["containers"][0]["env"] if one["name"] == "DATABASE_URL"]
    assert env["value"] == "postgresql://dailygrad@db.example.com:6432/dailygrad"


def test_images_are_named_by_digest_where_one_is_given(everything: list[Manifest]) -> None:
    found = {one["image"] for pod in pods(everything).values() for one in containers(pod)}
    assert f"ghcr.io/OWNER/dailygrad-service@sha256:{'0' * 64}" in found
    assert "ghcr.io/OWNER/dailygrad-bot:0.1.0" in found
    assert not any(image.endswith(":latest") for image in found)


def test_names_fit_however_long_the_release_is() -> None:
    for one in render(EVERYTHING, name="a" * 53):
        assert len(one["metadata"]["name"]) <= 63, one["metadata"]["name"]
