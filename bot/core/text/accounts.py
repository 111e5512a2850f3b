"""What the web chat says about signing in with an account of an OpenID provider."""

from __future__ import annotations

from typing import Final

Problem = tuple[str, str]
"""Title and text of a page."""

_START_AGAIN: Final = "Go back to the start and sign in again."
OVER: Final = (
    "This sign-in is over",
    f"It was completed before, begun in another browser, or begun more than ten minutes ago. {_START_AGAIN}",
)
HAS_ANOTHER: Final = (
    "This member has another account",
    "Another account signs this member in since you opened the page. Go back to the start and sign in again.",
)


def unreachable(provider: str) -> Problem:
    """Returns the page of a provider that gives no usable answer."""
    return (
        "Sign-in does not work right now",
        f"{provider} gives no usable answer. Try again in a minute. If that does not help, ask the person who "
        "runs Dailygrad to look at the log of the web chat.",
    )


def refused(provider: str, error: str) -> Problem:
    """Returns the page of a provider that refuses the sign-in; `error` is the code that the standard gives it."""
    if error == "access_denied":
        return "Not signed in", f"{provider} did not let you in, or you canceled. {_START_AGAIN}"
    return "Not signed in", f"{provider} refused the sign-in ({error}). {_START_AGAIN}"


def unverified(provider: str, why: str) -> Problem:
    """Returns the page of an answer that cannot be trusted."""
    text = f"The answer of {provider} cannot be trusted: {why}. You are not signed in. Tell the admin of Dailygrad."
    return "Not signed in", text
