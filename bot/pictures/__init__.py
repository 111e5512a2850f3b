"""Pictures for cards: leaderboards, distributions, weekly progress and formulas, drawn by matplotlib in a child
process.

`Pictures().illustrated(card)` is the whole interface. Only the child process imports matplotlib.
"""

from bot.pictures.illustration import Pictures

__all__ = ["Pictures"]
