"""The app as Slack is told of it: commands, scopes and events from one place.

`python -m bot.slack.manifest` writes it for Socket Mode; with `--http https://quiz.example.org`, the address
we are reached at, for signed HTTP.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Final

from bot.core.command_spec import COMMANDS

BOT_SCOPES: Final = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:write",
    "users:read",
)
"""What each is for stands in `WHY`."""
WHY: Final = {
    "app_mentions:read": "an answer sent by naming the bot",
    "channels:history": "looking whether a post arrived, before it is made again; code beneath a question",
    "channels:read": "knowing that it was invited to a channel",
    "chat:write": "posting questions and answers",
    "commands": "/quiz and /quiz-admin",
    "files:read": "a .py file as an answer",
    "files:write": "pictures of boards and formulas",
    "groups:history": "the same in private channels it was invited to",
    "groups:read": "the same of private channels",
    "im:history": "messages written to the bot",
    "im:write": "verdicts and notices in private",
    "users:read": "the names on the boards, and who is an admin",
}
BOT_EVENTS: Final = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "tokens_revoked",
)
_SAID: Final = {
    "quiz": "The daily quiz: answer, practise, see the board",
    "quiz-admin": "Schedules, banks, seasons and reports of the quiz, for admins",
}
EVENTS_PATH: Final = "/slack/events"
_COLOUR: Final = "#1f3a5f"
_LONG: Final = (
    "Dailygrad posts a question on machine learning to a channel on the days and at the time you choose. Members "
    "answer privately, by a button, a form or code that is run and judged. When the round closes the answer is shown "
    "with the reason and the statistics. Between the questions, /quiz practice repeats what you are about to forget."
)


def app_manifest(url: str = "") -> dict[str, Any]:
    """The manifest for Socket Mode, or with the `url` our server is reached at for signed HTTP and many workspaces."""
    events = f"{url.rstrip('/')}{EVENTS_PATH}" if url else ""
    request = {"request_url": events} if url else {}
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "Dailygrad",
            "description": "The daily quiz of a machine-learning team",
            "long_description": _LONG,
            "background_color": _COLOUR,
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "Dailygrad", "always_online": True},
            "slash_commands": [_command(name, events) for name in dict.fromkeys(spec.name for spec in COMMANDS)],
        },
        "oauth_config": {
            "scopes": {"bot": list(BOT_SCOPES)},
            **({"redirect_urls": [f"{url.rstrip('/')}/slack/oauth_redirect"]} if url else {}),
        },
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not url,
            # Tokens that expire must be kept and refreshed, which is for a hosted service.
            "token_rotation_enabled": bool(url),
        },
    }


def _command(name: str, url: str) -> dict[str, Any]:
    """A slash command; what may follow it is its hint."""
    words = dict.fromkeys(spec.path[0] for spec in COMMANDS if spec.name == name)
    about = {"command": f"/{name}", "description": _SAID[name], "usage_hint": " | ".join(words)}
    return {**about, "should_escape": False, **({"url": url} if url else {})}


def main(arguments: list[str] | None = None) -> None:
    """Write the manifest to the standard output."""
    parser = argparse.ArgumentParser(description="Write the manifest of the Slack app.")
    parser.add_argument("--http", metavar="URL", default="", help="where our server is reached, for signed HTTP")
    url = parser.parse_args(arguments).http
    if url and not url.startswith("https://"):
        parser.error(f"{url!r} is no address Slack sends to; give one that begins with https://")
    json.dump(app_manifest(url), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
