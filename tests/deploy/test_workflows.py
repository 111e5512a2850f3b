"""GitHub's workflows: valid by their schema, actions pinned by commit, few rights, every Python and PostgreSQL."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import lock

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows" / name).read_text(encoding="utf-8"))
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path.name)["jobs"].values() for step in job["steps"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "files"), [("github-workflows", WORKFLOWS), ("dependabot", [ROOT / ".github/dependabot.yml"])]
)
def test_files_match_their_schema(schema: str, files: list[Path]) -> None:
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_with_the_version_beside_it(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert used
    for one in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_and_jobs_ask_for_more_by_name(path: Path) -> None:
    assert read(path.name)["permissions"] == {"contents": "read"}
    for name, job in read(path.name)["jobs"].items():
        assert job["timeout-minutes"] <= 90, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_words_of_a_pull_request_reach_a_shell(path: Path) -> None:
    for step in steps(path):
        assert not re.search(r"\$\{\{\s*github\.(event|head_ref)", step.get("run", "")), step


def test_every_supported_python_and_postgresql_is_tested_together() -> None:
    matrix = read("test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert tuple(matrix["python"]) == lock.PYTHONS
    assert matrix["postgres"] == ["15", "16", "17", "18"]
    assert "exclude" not in matrix
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert oldest == f">={lock.PYTHONS[0]}"


def test_make_targets_that_workflows_call_exist() -> None:
    targets = set(re.findall(r"^([\w.$()/-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {
        target
        for path in WORKFLOWS
        for step in steps(path)
        for target in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))
    }
    assert len(called) > 7
    assert called <= targets


def chart_images() -> set[str]:
    """Returns the images that the chart starts."""
    templates = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "deploy/chart/templates").glob("*"))
    named = re.findall(
        r'include "dailygrad\.image" \(list [.$]\w* (?:"([\w-]+)"|\(ternary "([\w-]+)" "([\w-]+)")', templates
    )
    return {image for found in named for image in found if image}


def test_a_release_has_the_images_of_both_machines_signed_and_described() -> None:
    jobs = read("release.yml")["jobs"]
    assert {one["name"] for one in jobs["images"]["strategy"]["matrix"]["machine"]} == {"amd64", "arm64"}
    assert jobs["images"]["strategy"]["matrix"]["image"] == jobs["sign"]["strategy"]["matrix"]["image"]
    assert set(jobs["sign"]["strategy"]["matrix"]["image"]) == set(chart_images())
    building = " ".join(step.get("run", "") for step in jobs["images"]["steps"])
    assert 'if [ "$image" = sandbox-gpu ]; then arguments=(--build-arg TORCH_INDEX_URL=)' in building
    for image in chart_images():
        assert (ROOT / image.removesuffix("-gpu") / "Dockerfile").is_file()
    assert jobs["sign"]["needs"] == "images"
    signing = " ".join(step.get("run", "") for step in jobs["sign"]["steps"])
    assert "cosign sign --yes --recursive" in signing
    assert "cosign attest --yes --type cyclonedx" in signing
    assert jobs["sign"]["permissions"]["id-token"] == "write"


def test_ci_has_every_program_without_which_tests_are_skipped() -> None:
    skipped = re.compile(r"(?:skipif\(.*|^[A-Z]+ = )shutil\.which\(\"(\w+)\"\)", re.MULTILINE)
    files = (ROOT / "tests").rglob("test_*.py")
    # Every Linux has unshare, and CI has checked this out with git.
    there = {"unshare", "git"}
    needed = {name for path in files for name in skipped.findall(path.read_text(encoding="utf-8"))} - there
    assert needed >= {"caddy", "kubectl", "promtool"}
    assert needed <= set(
        re.findall(r"^    install (\w+) ", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.MULTILINE)
    )
    packages = {"promtool": "prometheus"}
    needed.remove("kubectl")  # GitHub's runners have it.
    installed = " ".join(step.get("run", "") for step in read("test.yml")["jobs"]["test"]["steps"])
    assert {packages.get(name, name) for name in needed} <= set(installed.split())
