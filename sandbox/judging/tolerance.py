"""How far numbers may deviate from the expected ones."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class NumberTolerance:
    """Allowed deviation of a number: |got - expected| <= atol + rtol * |expected| + scale * (largest |expected|)."""

    rtol: float = 1e-5
    atol: float = 1e-7
    scale: float = 0.0
    """Part of an array's largest number by which each of its numbers may deviate."""

    def for_second_device(self) -> NumberTolerance:
        """Returns the tolerance for results of another device than the expected ones.

        It adds in another order. Where terms cancel out, the rounding error is relative to the terms, not to the sum.
        """
        return replace(self, scale=self.rtol)
