"""Sentences that only Slack needs: installing the app, the scopes it lacks, and rejected files."""

from __future__ import annotations

from typing import Final

from bot.core.text.words import Words

ADMIN_UNKNOWN: Final = "Slack did not say whether you are an admin. Try again in a minute."
USERS_SCOPE_MISSING: Final = (
    "Dailygrad cannot see who is an admin here, because the app lacks the scope `users:read`. Add the scope and "
    "reinstall the app, or list the admins in DAILYGRAD_SLACK_MANAGERS."
)

NOT_ON_SLACK: Final = "It is not stored on Slack. Upload it as a file, or paste the code."
NOT_UTF8: Final = "It is not UTF-8 text. Save it as UTF-8 and send it again."
FILES_SCOPE_MISSING: Final = (
    "Dailygrad may not read files here: the app needs the scope `files:read`, which an admin can add. Until then, "
    "paste the code."
)
FILE_UNAVAILABLE: Final = "Send it again in a minute, or paste the code."

INSTALLED_TITLE: Final = "Dailygrad is installed"
NOT_INSTALLED_TITLE: Final = "Dailygrad was not installed"
_START_AGAIN = "Start again at /slack/install."
_FAILURES = {
    "access_denied": "You declined. Nothing was installed.",
    "invalid_browser": f"This is not the browser you started in. {_START_AGAIN}",
    "invalid_state": f"The link has expired or was used before. {_START_AGAIN}",
    "invalid_code": f"Slack rejected the code. {_START_AGAIN}",
}
ORGANIZATION_WIDE: Final = (
    "Dailygrad cannot be installed for a whole organization. Install it in each workspace: choose the workspace on "
    "Slack's page, not the organization"
)


def installed(workspace: str) -> Words:
    """Returns the page after an installation; `workspace` is its name, if Slack gives one."""
    text = f"It is now in {workspace or 'your workspace'} and has sent you a message there. Type /quiz help."
    return INSTALLED_TITLE, text


def not_installed(reason: str, error: str) -> Words:
    """Returns the page after a failed installation; `reason` is Slack's or Bolt's code for it."""
    if reason == "storage_error":
        return NOT_INSTALLED_TITLE, f"The installation could not be saved: {error}"
    return NOT_INSTALLED_TITLE, _FAILURES.get(reason, f"Slack says: {reason}. {_START_AGAIN}")
