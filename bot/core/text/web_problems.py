"""What the web chat says where it refuses a request: title and text of the page. Plain text, no Markdown."""

from __future__ import annotations

from typing import Final

from bot.core.text.words import Words

NOT_FOUND: Final[Words] = ("Page not found", "There is no such page.")
OTHER_PROBLEM: Final = "Not possible"
FAULT: Final[Words] = (
    "Something went wrong",
    "This is our fault and has been logged. Reload the page and check whether it worked.",
)
OVERLOADED: Final = "Too many people are here right now. Reload the page in a moment."
TOO_LARGE: Final = "This is more than the chat accepts: 4 MiB at most. Nothing was changed."

OTHER_SITE: Final[Words] = ("Request refused", "This request came from another site. Nothing was changed.")
OUT_OF_DATE: Final[Words] = (
    "This page is out of date",
    "Reload it and repeat what you did. Nothing was changed.",
)
NO_SUCH_BUTTON: Final[Words] = ("Unknown button", "Open the page again and press one of its buttons.")

NOBODY: Final[Words] = ("Who are you?", "This page belongs to a member who has not joined in this browser.")
NOT_ADMIN: Final[Words] = ("For admins only", "These pages are for quiz admins. Ask one of them for help.")
SIGN_IN_LINK_USED: Final[Words] = (
    "This link no longer works",
    "A sign-in link works once, and only for a while. Make another one on your page in a browser where you are signed "
    "in, or ask the person who runs Dailygrad for one.",
)

SERVICE_DOWN: Final[Words] = (
    "The quiz is not responding",
    "The service is not responding, so nothing else is known. Check that it is running, and read its log.",
)
NO_MESSAGE: Final[Words] = ("Nothing to send", "Type a message or a command such as /quiz help.")
EDITOR_GONE: Final[Words] = (
    "This editor is gone",
    "Press Answer under the question again, or type /quiz today.",
)

NO_SUCH_SEARCH: Final[Words] = ("No such search", "Open the archive again and search there.")
NO_SUCH_BOARD: Final[Words] = ("No such leaderboard", "Open the page of leaderboards again and choose one there.")
NO_SUCH_TOURNAMENT: Final[Words] = (
    "No such tournament",
    "Open the page of the tournament again and choose one there.",
)
NO_SUCH_PRACTICE: Final[Words] = ("No such practice", "Open the practice page again and choose there.")
NOT_A_PRACTICE_ANSWER: Final[Words] = (
    "Not an answer",
    "Open the practice page again and answer there. Nothing was saved.",
)
NOT_AN_ANSWER: Final[Words] = ("Not an answer", "Open today's question again and answer it there.")
NOT_A_SPRINT_ANSWER: Final[Words] = ("Not an answer", "Open the sprint's page again and answer there.")

# The editor that a link in another chat opens

EDITOR_ADDRESS: Final[Words] = (
    "Dailygrad",
    "This address serves the editor of code answers. A question in your chat has the link to it.",
)
LINK_EXPIRED: Final[Words] = (
    "This link has expired",
    "It is more than a day old. Open the editor from the question again.",
)
LINK_INCOMPLETE: Final[Words] = (
    "This link does not work",
    "A part of it is missing or changed. Open the editor from the question again.",
)
OTHER_QUESTION: Final[Words] = (
    "Not with this link",
    "It answers one question and no other. Nothing was changed.",
)
ROUND_CLOSED: Final[Words] = (
    "This round has closed",
    "The answer is revealed where the question was posted; you can practice there.",
)
NO_EDITOR: Final[Words] = (
    "No editor is needed",
    "This question is answered with a few clicks in your chat.",
)
EDITOR_UNAVAILABLE: Final[Words] = (
    "Please try again",
    "The quiz is not responding right now. Nothing is lost.",
)

# Signing in with an account of an OpenID provider

_START_AGAIN: Final = "Go back to the start and sign in again."
SIGN_IN_OVER: Final[Words] = (
    "This sign-in has expired",
    f"It was already completed, started in another browser, or started more than ten minutes ago. {_START_AGAIN}",
)
HAS_ANOTHER: Final[Words] = (
    "This member has another account",
    f"Another account was connected to this member after you opened the page. {_START_AGAIN}",
)


def provider_unreachable(provider: str) -> Words:
    """Returns the page of a provider that gives no usable answer."""
    return (
        "Sign-in is not working right now",
        f"{provider} is not responding correctly. Try again in a minute. If that does not help, ask the person who "
        "runs Dailygrad to check the web chat's log.",
    )


def sign_in_refused(provider: str, error: str) -> Words:
    """Returns the page of a provider that refuses the sign-in; `error` is the code that the standard gives it."""
    if error == "access_denied":
        return "Not signed in", f"{provider} did not let you in, or you canceled. {_START_AGAIN}"
    return "Not signed in", f"{provider} refused the sign-in ({error}). {_START_AGAIN}"


def sign_in_unverified(provider: str, why: str) -> Words:
    """Returns the page of an answer that cannot be trusted."""
    text = f"The response from {provider} could not be verified: {why}. You are not signed in."
    return "Not signed in", f"{text} Tell the person who runs Dailygrad."


def host_unknown(host: str | None) -> str:
    """Refuses a request to a name that is not this chat's."""
    return f"This chat is not available under the name {host!r}. Open it by its address."


def message_too_long(length: int, most: int) -> Words:
    """Refuses a message because of its length, in characters."""
    return "Too long", f"Your message has {length:,} characters; the limit is {most:,}. Nothing was sent."


def file_too_large(name: str, most_mib: int) -> Words:
    """Refuses a document that is not text because of its size."""
    text = (
        f"{name} is larger than {most_mib} MiB. Split it, leave out its pictures, or have the operator import it with"
    )
    return "File too large", f"{text} `dailygrad bank import`."
