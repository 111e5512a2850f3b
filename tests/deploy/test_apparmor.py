"""Our AppArmor profiles: they compile, Compose uses them, and they name no more than each container needs.

They are compiled, not enforced: that takes a kernel with AppArmor.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROFILES = sorted((ROOT / "deploy" / "apparmor").iterdir())
PARSER = shutil.which("apparmor_parser", path="/usr/sbin:/sbin:/usr/bin")
needs_parser = pytest.mark.skipif(PARSER is None, reason="apparmor_parser is not installed")


def compiled(profile: Path) -> subprocess.CompletedProcess[bytes]:
    """Compiles a profile without loading it."""
    words = ["--skip-kernel-load", "--skip-cache", "--stdout"]
    return subprocess.run([str(PARSER), *words, str(profile)], capture_output=True, timeout=60)


@needs_parser
@pytest.mark.parametrize("profile", PROFILES, ids=lambda file: file.name)
def test_a_profile_compiles_and_is_named_after_its_file(profile: Path) -> None:
    result = compiled(profile)
    assert result.returncode == 0, result.stderr.decode()
    assert profile.name.encode() in result.stdout


@needs_parser
def test_a_mistake_in_a_profile_is_noticed(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text((ROOT / "deploy" / "apparmor" / "dailygrad").read_text().replace("  unix,\n", "  unixx,\n"))
    assert compiled(wrong).returncode != 0


def rules(name: str) -> list[str]:
    """Returns a profile's rules without comments."""
    text = (ROOT / "deploy" / "apparmor" / name).read_text()
    return [line.strip() for line in text.splitlines() if line.startswith("  ") and not line.strip().startswith("#")]


def test_the_sandbox_has_no_network_and_only_it_may_mount() -> None:
    assert {rule for rule in rules("dailygrad-sandbox") if rule.startswith("network")} == {
        "network unix,",
        "network netlink raw,",
    }
    assert {"mount,", "umount,", "pivot_root,"} <= set(rules("dailygrad-sandbox"))
    assert [
        rule for rule in rules("dailygrad") if re.match(r"mount|umount|pivot_root|capability|change_profile", rule)
    ] == []
    assert "ptrace," not in rules("dailygrad") + rules("dailygrad-sandbox")


def test_each_of_our_containers_uses_a_profile() -> None:
    whole = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    laid_over = yaml.safe_load((ROOT / "deploy" / "apparmor.yml").read_text())["services"]
    ours = {name for name, one in whole.items() if one.get("image") in ("dailygrad-service", "dailygrad-bot")}
    assert set(laid_over) == ours
    assert {tuple(one["security_opt"]) for one in laid_over.values()} == {("apparmor=dailygrad",)}
    for name in ("sandbox", "sandbox-gpu"):
        assert "apparmor=${SANDBOX_APPARMOR:-unconfined}" in whole[name]["security_opt"]
    assert "dailygrad-sandbox" in {profile.name for profile in PROFILES}
