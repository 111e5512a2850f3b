"""How late an interaction reaches us, whatever the difference between Discord's clock and ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Final

from bot.platforms.discord.messages import instant_ms

TOO_LATE_S: Final = 2.5
"""Discord waits three seconds for a first response; on the road there some of them are lost."""
_REMEMBERED: Final = 64


class Lateness:
    """The promptest of the last interactions stands for the difference of the clocks.

    `steady` counts seconds from whenever and is never set, unlike the time of day.
    """

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._ages: deque[float] = deque(maxlen=_REMEMBERED)

    def of(self, interaction: str) -> float:
        """Seconds by which it is later than the promptest one; 0 for the first."""
        age = self._steady() - instant_ms(interaction) / 1000
        self._ages.append(age)
        return age - min(self._ages)


def age_of(interaction: str, now: datetime) -> float:
    """Seconds since it was made, if the clocks agree."""
    return now.timestamp() - instant_ms(interaction) / 1000
