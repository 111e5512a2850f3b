"""Text that a stranger's program wrote, made harmless for terminals and chats. Nothing else."""

from __future__ import annotations

_REPLACEMENT = 0xFFFD
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
# They turn the direction of what follows them, so that a line reads as another than it is.
_TURNING = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_TABLE: dict[int, int | str] = dict.fromkeys([*_CONTROLS, *_TURNING], _REPLACEMENT)
_TABLE |= {ord("\n"): "\n", ord("\t"): "\t"}


def harmless(text: str) -> str:
    """`text` with every control and direction mark but tab and line end replaced by U+FFFD."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def shortened(text: str, most: int) -> str:
    """At most `most` characters of `text`, the last of them an ellipsis where something was left out."""
    return text if len(text) <= most else text[: most - 1] + "…"
