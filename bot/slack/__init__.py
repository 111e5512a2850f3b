"""Slack: renders cards and forms as the bodies its API takes."""

from bot.slack.render import bodies
from bot.slack.views import fits_view, view

__all__ = ["bodies", "fits_view", "view"]
