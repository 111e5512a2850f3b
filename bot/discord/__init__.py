"""Discord: what a card or a form is there, as the bodies its API takes."""

from bot.discord.modals import fits_modal, modal
from bot.discord.render import bodies

__all__ = ["bodies", "fits_modal", "modal"]
