"""The jail's command line, read without running it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.host import jail
from sandbox.host.jail import Runtime, find_bubblewrap

PACKAGES = str(Path(__file__).parent)
"""A folder that can be listed."""
RUNTIME = Runtime("/opt/py/bin/python3.12", ("/opt/py",), (PACKAGES,), "/srv/app/sandbox")


def mounted(words: list[str], option: str) -> dict[str, str]:
    """Returns the mounts of a kind, sources by destination."""
    return {words[at + 2]: words[at + 1] for at, word in enumerate(words) if word == option}


def test_only_the_runtime_is_mounted_and_only_to_be_read() -> None:
    words = jail.bubblewrap_command("bwrap", RUNTIME, {}, ["python"])
    ours = {
        path: source for path, source in mounted(words, "--ro-bind").items() if not path.startswith(("/usr/", "/lib"))
    }
    assert ours == {
        "/opt/py": "/opt/py",
        "/opt/dailygrad/packages0": PACKAGES,
        "/opt/dailygrad/sandbox": "/srv/app/sandbox",
    }
    assert "--bind" not in words
    others = [word for word in words if word != PACKAGES]
    assert not any(word.startswith(("/etc", "/home", "/root", "/var")) for word in others)


def test_the_walls_that_bubblewrap_does_not_raise_by_itself_are_asked_for() -> None:
    words = jail.bubblewrap_command("bwrap", RUNTIME, {}, ["python"])
    wanted = {"--as-pid-1", "--die-with-parent", "--clearenv", "--new-session", "--unshare-user", "--unshare-pid"}
    assert wanted | {"--unshare-net", "--unshare-ipc", "--unshare-uts"} <= set(words)
    assert words[-2:] == ["--", "python"]
    assert [words[at + 1] for at, word in enumerate(words) if word == "--remount-ro"] == ["/dev", "/"]
    assert words[words.index("--cap-drop") + 1] == "ALL"


def test_this_proc_is_mounted_only_where_that_is_asked_for() -> None:
    words = jail.bubblewrap_command("bwrap", RUNTIME, {}, ["python"], jail.THIS_PROC)
    assert (mounted(words, "--bind"), "--proc" in words) == ({"/proc": "/proc"}, False)
    assert "--proc" in jail.bubblewrap_command("bwrap", RUNTIME, {}, ["python"])


def test_sources_that_were_staged_are_mounted_from_there() -> None:
    words = jail.bubblewrap_command("bwrap", RUNTIME, {"/opt/py": "/tmp/0"}, ["python"])
    assert mounted(words, "--ro-bind")["/opt/py"] == "/tmp/0"


@pytest.mark.parametrize("staged", [False, True])
def test_banks_installed_beside_torch_are_covered_and_not_readable(tmp_path: Path, *, staged: bool) -> None:
    for name in ("torch", "questions", "service"):
        (tmp_path / name).mkdir()
    for name in ("__editable__.pth", "__editable___dailygrad_finder.py", "other.egg-link"):
        (tmp_path / name).touch()
    for name in ("dailygrad-1.0.dist-info", "other-2.dist-info"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "direct_url.json").touch()
    # As root, the folder is bound elsewhere first, and its own path can no longer be listed.
    folder = "/root/venv/lib/python3/site-packages" if staged else str(tmp_path)
    runtime = Runtime("/opt/py/bin/python", ("/opt/py",), (folder,), "/srv/app/sandbox")
    words = jail.bubblewrap_command("bwrap", runtime, {folder: str(tmp_path)} if staged else {}, ["python"])
    covered = [words[at + 1] for at, word in enumerate(words) if word == "--tmpfs"]
    names = ("dailygrad-1.0.dist-info", "questions", "service")
    assert sorted(covered) == [*(f"/opt/dailygrad/packages0/{name}" for name in names), "/tmp"]
    pairs = list(itertools.pairwise(words))
    for name in ("__editable__.pth", "__editable___dailygrad_finder.py", "other.egg-link"):
        assert ("/dev/null", f"/opt/dailygrad/packages0/{name}") in pairs
    assert ("/dev/null", "/opt/dailygrad/packages0/other-2.dist-info/direct_url.json") in pairs
    assert "/opt/dailygrad/packages0" in jail.readable(runtime, jailed=True)
    bare = jail.readable(replace(runtime, packages=(str(tmp_path),)), jailed=False)
    assert f"{tmp_path}/torch" in bare
    assert not [path for path in bare if path.startswith(str(tmp_path)) and not path.endswith("torch")]


def test_packages_that_cannot_be_listed_are_not_mounted_unhidden(tmp_path: Path) -> None:
    runtime = Runtime("/opt/py/bin/python", ("/opt/py",), (str(tmp_path / "unreachable"),), "/srv/app/sandbox")
    with pytest.raises(FileNotFoundError):
        jail.bubblewrap_command("bwrap", runtime, {}, ["python"])


@pytest.mark.sandbox
def test_the_zygote_reads_no_site_and_no_environment() -> None:
    words = jail.zygote_command(jail.find_runtime(), jailed=True)
    assert words[1:5] == ["-I", "-B", "-S", "-c"]


def test_a_python_of_usr_local_finds_its_own_library() -> None:
    runtime = Runtime("/usr/local/bin/python", ("/usr/local/lib", "/usr/local/bin"), (), "/srv/sandbox")
    assert jail.environment(runtime)["LD_LIBRARY_PATH"] == "/usr/local/lib"
    assert "LD_LIBRARY_PATH" not in jail.environment(RUNTIME)


def test_the_environment_does_not_depend_on_ours() -> None:
    assert set(jail.environment(RUNTIME)) == {
        "CUDA_VISIBLE_DEVICES",
        "USER", "GLIBC_TUNABLES", "HOME", "LANG", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "PYTHONMALLOC", "PYTORCH_NVML_BASED_CUDA_CHECK",
    }  # fmt: skip


@pytest.mark.sandbox
def test_the_runtime_and_bubblewrap_are_found_here() -> None:
    runtime = jail.find_runtime()
    assert (Path(runtime.packages[0]) / "torch").is_dir()
    assert (Path(runtime.package) / "host" / "jail.py").is_file()
    assert Path(find_bubblewrap([])[0]).is_file()
