"""Slack's app manifest as a table of fields and limits, written from docs.slack.dev/reference/app-manifest."""

from __future__ import annotations

from typing import Any

from tests.doubles.shapes import Check, array, flag, number, one_of, shape, string

WEB = string(3000, like=r"https?://.+")
NAMES = array(string(50, 1), 0, 255)
EVENTS = array(string(50, 1), 0, 100, distinct=True)

COMMAND = shape(
    {"command": string(32, 2, like=r"/\S+"), "description": string(2000, 1)},
    {"usage_hint": string(1000, 1), "url": WEB, "should_escape": flag},
)
SHORTCUT = shape(
    {
        "name": string(24, 1),
        "type": one_of("message", "global"),
        "callback_id": string(255, 1),
        "description": string(150, 1),
    }
)
MANIFEST: Check = shape(
    {
        "display_information": shape(
            {"name": string(35, 1)},
            {
                "description": string(140, 1),
                "long_description": string(4000, 175),
                "background_color": string(like=r"#([0-9a-fA-F]{3}){1,2}"),
            },
        )
    },
    {
        "_metadata": shape({}, {"major_version": number(1), "minor_version": number(0)}),
        "features": shape(
            {},
            {
                "app_home": shape(
                    {},
                    {
                        "home_tab_enabled": flag,
                        "messages_tab_enabled": flag,
                        "messages_tab_read_only_enabled": flag,
                    },
                ),
                "bot_user": shape({"display_name": string(80, 1)}, {"always_online": flag}),
                "shortcuts": array(SHORTCUT, 0, 10),
                "slash_commands": array(COMMAND, 0, 50),
            },
        ),
        "oauth_config": shape(
            {},
            {
                "redirect_urls": array(WEB, 0, 1000),
                "scopes": shape({}, {"bot": NAMES, "user": NAMES, "bot_optional": NAMES, "user_optional": NAMES}),
            },
        ),
        "settings": shape(
            {},
            {
                "event_subscriptions": shape({}, {"request_url": WEB, "bot_events": EVENTS, "user_events": EVENTS}),
                "interactivity": shape({"is_enabled": flag}, {"request_url": WEB, "message_menu_options_url": WEB}),
                "org_deploy_enabled": flag,
                "socket_mode_enabled": flag,
                "token_rotation_enabled": flag,
            },
        ),
    },
)


def wrong_in_manifest(manifest: Any) -> list[str]:
    """Returns the errors of a manifest."""
    return list(MANIFEST(manifest, "manifest"))
