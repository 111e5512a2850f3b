"""Discord: renders cards and forms as the bodies its API takes."""

from bot.discord.modals import fits_modal, modal
from bot.discord.render import bodies

__all__ = ["bodies", "fits_modal", "modal"]
