"""A seed determines the faults of a day, which include every process and the database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.program import ESSENTIAL, faults_of


@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(0, 40))
def test_a_seed_is_one_program(seed: int, spread: int, more: int) -> None:
    faults = faults_of(seed, spread, more)
    assert faults == faults_of(seed, spread, more)
    assert len(faults) == len(ESSENTIAL) + more
    assert all(0 <= fault.at < spread for fault in faults)
    assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)
    assert set(ESSENTIAL) <= {(fault.kind, fault.what) for fault in faults}


def test_another_seed_is_another_program() -> None:
    assert len({faults_of(seed, 100, 10) for seed in range(50)}) == 50
