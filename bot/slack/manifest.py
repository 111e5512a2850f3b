"""Generates the app manifest: commands, scopes and events, declared in one place.

`python -m bot.slack.manifest` prints it for Socket Mode; with `--http https://quiz.example.org`, the public URL of the
bot, for signed HTTP.
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
    "channels:join",
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
"""OAuth scopes; `WHY` says what each is for."""
WHY: Final = {
    "app_mentions:read": "answers sent by mentioning the bot",
    "channels:history": "checking whether a post arrived before retrying it; no message is sent to the app",
    "channels:join": "the button in the setup that makes the bot join a public channel",
    "channels:read": "noticing invitations, new names and unarchived channels; checking before the first post",
    "chat:write": "posting questions and answers",
    "commands": "/quiz and /quiz-admin",
    "files:read": "answers as .py files, in forms and messages",
    "files:write": "pictures of formulas",
    "groups:history": "the same as channels:history, in private channels it was invited to",
    "groups:read": "the same as channels:read, in private channels",
    "im:history": "direct messages to the bot",
    "im:write": "verdicts and notices by direct message",
    "users:read": "names on the boards, who is an admin, and the time zone that a schedule starts with",
}
BOT_EVENTS: Final = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "channel_rename",
    "channel_unarchive",
    "group_rename",
    "group_unarchive",
    "member_joined_channel",
    "message.im",
    "team_join",
    "tokens_revoked",
    "user_change",
)
_DESCRIPTIONS: Final = {
    "quiz": "The daily quiz: answer, practice, see the board",
    "quiz-admin": "Quiz administration: schedules, banks, seasons, reports",
}
ANSWER_WITH_THIS: Final = "answer_with_this"
"""Callback id of the message shortcut."""
_SHORTCUT: Final = {
    "name": "Answer with this",
    "type": "message",
    "callback_id": ANSWER_WITH_THIS,
    "description": "Answer the open code question with the code in this message",
}
EVENTS_PATH: Final = "/slack/events"
_COLOR: Final = "#1f3a5f"
_LONG_DESCRIPTION: Final = (
    "Dailygrad posts a machine-learning question to a channel, on the days and at the time you choose. Members answer "
    "privately with a button, a form, or code that is run and graded. When the round closes, the answer appears with "
    "an explanation and statistics. Between questions, /quiz practice brings back what you are about to forget."
)


def app_manifest(url: str = "") -> dict[str, Any]:
    """Returns the manifest for Socket Mode; with the bot's public `url`, for signed HTTP and OAuth."""
    events = f"{url.rstrip('/')}{EVENTS_PATH}" if url else ""
    request = {"request_url": events} if url else {}
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "Dailygrad",
            "description": "A daily quiz for machine-learning teams",
            "long_description": _LONG_DESCRIPTION,
            "background_color": _COLOR,
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "Dailygrad", "always_online": True},
            "shortcuts": [dict(_SHORTCUT)],
            "slash_commands": [_command(name, events) for name in dict.fromkeys(spec.name for spec in COMMANDS)],
        },
        "oauth_config": {
            "scopes": {"bot": list(BOT_SCOPES)},
            **({"redirect_urls": [f"{url.rstrip('/')}/slack/oauth_redirect"]} if url else {}),
        },
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True, **request},
            # Not supported: an organization-wide installation has one token for many workspaces.
            "org_deploy_enabled": False,
            "socket_mode_enabled": not url,
            # Expiring tokens must be saved and refreshed, which only OAuth installations support.
            "token_rotation_enabled": bool(url),
        },
    }


def _command(name: str, url: str) -> dict[str, Any]:
    """Returns a slash command, with its subcommands as the usage hint."""
    words = dict.fromkeys(spec.path[0] for spec in COMMANDS if spec.name == name)
    about = {"command": f"/{name}", "description": _DESCRIPTIONS[name], "usage_hint": " | ".join(words)}
    return {**about, "should_escape": False, **({"url": url} if url else {})}


def main(arguments: list[str] | None = None) -> None:
    """Prints the manifest."""
    parser = argparse.ArgumentParser(description="Print the manifest of the Slack app.")
    parser.add_argument("--http", metavar="URL", default="", help="public URL of the bot, for signed HTTP")
    url = parser.parse_args(arguments).http
    if url and not url.startswith("https://"):
        parser.error(f"{url!r} is not a URL Slack can send to; it must start with https://")
    json.dump(app_manifest(url), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
