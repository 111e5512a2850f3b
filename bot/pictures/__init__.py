"""Pictures for cards: boards, distributions, a member's weeks, formulas. Drawn by matplotlib in a process of its own.

`Pictures().illustrated(card)` is all a chat needs. Nothing here imports matplotlib but that process.
"""

from bot.pictures.service import Pictures

__all__ = ["Pictures"]
