"""Slack: what a card or a form is there, as the bodies its API takes."""

from bot.platforms.slack.render import bodies
from bot.platforms.slack.views import fits_view, view

__all__ = ["bodies", "fits_view", "view"]
