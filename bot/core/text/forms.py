"""Hints on fields of forms, and on what a chat has no room or no input for."""

from __future__ import annotations

from typing import Final

TIME_HINT: Final = "For example 09:30."
MEMBER_HINT: Final = "For example `@Ada`, or the name on the leaderboard."
ROLE_HINT: Final = "The id of a user group, or empty for none."

TOO_LONG: Final = "The current text is too long for this window. Send a new one as a file, or type it here."
OR_CODE_FILE: Final = "A .py file instead of the text above."
OR_FILE: Final = "A file instead of the text above."
MORE_IN_MESSAGE: Final = "The rest of the question is in its message."
