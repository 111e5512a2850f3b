"""What Slack's errors mean for us: never, later, or nobody knows; with the cause and the cure in words."""

from __future__ import annotations

from aiohttp import ClientConnectorError
from slack_sdk.errors import SlackApiError

from bot.core.platform import Later, Refused

_CURES = {
    "not_in_channel": "the bot is not in the channel; invite it with /invite @Dailygrad",
    "channel_not_found": "the channel does not exist, or is private and the bot is not in it; invite it with "
    "/invite @Dailygrad",
    "is_archived": "the channel is archived; unarchive it or move the schedule to another",
    "restricted_action": "the workspace's settings keep the bot from posting there; an admin can allow it in the "
    "channel's posting permissions",
    "restricted_action_read_only_channel": "the channel is read-only; an admin can let the bot post in it",
    "restricted_action_thread_only_channel": "the channel takes replies in threads alone; choose another",
    "restricted_action_non_threadable_channel": "the channel has no threads; choose another",
    "team_access_not_granted": "the app is not granted access to this workspace; an organisation's admin can grant it",
    "user_not_found": "the member is not in this workspace",
    "user_disabled": "the member's account is deactivated",
    "cannot_dm_bot": "a bot takes no messages of its own kind",
    "messages_tab_disabled": "the app's Messages tab is off; turn it on under App Home",
    "msg_too_long": "the message is longer than Slack takes",
    "msg_blocks_too_long": "the message is longer than Slack takes",
    "invalid_blocks": "Slack does not take the message's layout, which is our fault",
    "no_text": "the message is empty, which is our fault",
    "ekm_access_denied": "the organisation's key management keeps the bot out",
    "two_factor_setup_required": "the workspace asks for two-factor authentication; the app's owner sets it up",
}
# The token is of no use any more; the app must be installed anew.
DEAD_TOKEN = frozenset(
    {"account_inactive", "invalid_auth", "not_authed", "token_revoked", "token_expired", "org_login_required"}
)
_LATER_S = 5.0


class NotInstalled(Exception):
    """The app is not installed in the workspace, or its token is of no use any more."""

    def __init__(self, team: str) -> None:
        super().__init__(
            f"the app is not installed in the workspace {team}, or its token was revoked; install it again"
        )


def code_of(error: SlackApiError) -> str:
    """Slack's own word for what went wrong, empty where it gave none."""
    data = getattr(error.response, "data", error.response)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def retry_after(error: SlackApiError) -> float | None:
    """For how many seconds Slack wants to be left alone; None where that is not what is wrong."""
    if getattr(error.response, "status_code", 200) != 429 and code_of(error) not in ("ratelimited", "rate_limited"):
        return None
    headers = getattr(error.response, "headers", None) or {}
    try:
        return max(0.0, float(headers.get("Retry-After") or headers.get("retry-after") or 1))
    except ValueError:
        return 1.0


def verdict_on(error: Exception) -> Exception:
    """The error as the courier understands it: Refused, Later, or itself where nobody knows what became of the call."""
    match error:
        case SlackApiError():
            if (seconds := retry_after(error)) is not None:
                return Later(seconds)
            return _refusal(error) or error
        case ClientConnectorError():
            # It never reached Slack.
            return Later(_LATER_S)
        case NotInstalled():
            return Refused(str(error))
        case _:
            return error


def _refusal(error: SlackApiError) -> Refused | None:
    code = code_of(error)
    if code == "missing_scope":
        needed = getattr(error.response, "data", {}).get("needed", "")
        return Refused(
            f"missing_scope: the app lacks the scope {needed}; add it under OAuth & Permissions and reinstall"
        )
    if code in DEAD_TOKEN:
        return Refused(f"{code}: the app's token is of no use any more; install the app again")
    return Refused(f"{code}: {_CURES[code]}") if code in _CURES else None
