"""What the admin pages say after something was done."""

from __future__ import annotations

from typing import Final, Literal

Done = Literal["settled"]

DONE: Final[dict[Done, str]] = {
    "settled": "Settled. Its author is told.",
}
