"""What the web chat says about signing in with an account of an OpenID provider."""

from __future__ import annotations

from typing import Final

Problem = tuple[str, str]
"""Title and text of a page."""

_START_AGAIN: Final = "Go back to the start and sign in again."
OVER: Final = (
    "This sign-in has expired",
    f"It was already completed, started in another browser, or started more than ten minutes ago. {_START_AGAIN}",
)
HAS_ANOTHER: Final = (
    "This member has another account",
    "Another account was connected to this member after you opened the page. Go back to the start and sign in again.",
)


def unreachable(provider: str) -> Problem:
    """Returns the page of a provider that gives no usable answer."""
    return (
        "Sign-in is not working right now",
        f"{provider} is not responding correctly. Try again in a minute. If that does not help, ask the person who "
        "runs Dailygrad to check the web chat's log.",
    )


def refused(provider: str, error: str) -> Problem:
    """Returns the page of a provider that refuses the sign-in; `error` is the code that the standard gives it."""
    if error == "access_denied":
        return "Not signed in", f"{provider} did not let you in, or you canceled. {_START_AGAIN}"
    return "Not signed in", f"{provider} refused the sign-in ({error}). {_START_AGAIN}"


def unverified(provider: str, why: str) -> Problem:
    """Returns the page of an answer that cannot be trusted."""
    text = f"The response from {provider} could not be verified: {why}. You are not signed in."
    return "Not signed in", f"{text} Tell the person who runs Dailygrad."
