"""The calls of the web chat's bots: people, sessions, sign-in links and messages.

`workspace` is the web chat. Secrets of browsers and links stay with the caller; the service gets their digests.
"""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from pydantic import TypeAdapter

from service.client.calls import CallSender, call
from service.wire import WebChanges, WebMessage, WebMessages, WebPerson, WebPost, WebSession

OPTIONAL_MESSAGE: TypeAdapter[WebMessage | None] = TypeAdapter(WebMessage | None)


class WebCalls(CallSender):
    """One method per call."""

    @call("web/secret", repeatable=True)
    async def web_secret(self, workspace: str) -> str:
        """Returns the secret with which all processes of the chat sign forms and cookies."""

    @call("web/join")
    async def web_join(self, workspace: str, name: str) -> WebPerson:
        """Adds a person, the first one as the admin. Refused for names that nobody can have, and if too many join."""

    @call("web/people", repeatable=True)
    async def web_people(self, workspace: str, members: tuple[str, ...]) -> tuple[WebPerson, ...]:
        """Returns the people with these ids."""

    @call("web/role", repeatable=True)
    async def web_role(self, workspace: str, member: str, admin: bool) -> None:
        """Makes a person an admin of the chat, or no longer one."""

    @call("web/session/begin", repeatable=True)
    async def web_session_begin(self, workspace: str, member: str, digest: str, agent: str) -> bool:
        """Signs a browser in. Returns False if there is no such person."""

    @call("web/session/use", repeatable=True)
    async def web_session_use(self, workspace: str, digests: tuple[str, ...]) -> dict[str, WebSession]:
        """Returns the sessions with these digests that have not ended, by digest."""

    @call("web/session/list", repeatable=True)
    async def web_session_list(self, workspace: str, member: str | None) -> tuple[WebSession, ...]:
        """Returns the sessions of one person or of all, most recently used first."""

    @call("web/session/end", repeatable=True)
    async def web_session_end(self, workspace: str, sessions: tuple[int, ...], member: str | None) -> int:
        """Ends sessions, of that person only if one is given. Returns how many there were."""

    @call("web/sign-in/make", repeatable=True)
    async def web_sign_in_make(self, workspace: str, member: str, digest: str, seconds: int) -> bool:
        """Adds a link that signs a person in, once within that time. Returns False if there is no such person."""

    @call("web/sign-in/find", repeatable=True)
    async def web_sign_in_find(self, workspace: str, digest: str) -> WebPerson | None:
        """Returns the person that a link signs in; None if it was used, is too old or never existed."""

    @call("web/sign-in/use")
    async def web_sign_in_use(self, workspace: str, digest: str) -> WebPerson | None:
        """Uses up a link. Returns the person it signs in; None if it was used, is too old or never existed."""

    @call("web/account/find", repeatable=True)
    async def web_account_find(self, workspace: str, digest: str) -> WebPerson | None:
        """Returns the person that an account at an OpenID provider signs in, or None."""

    @call("web/account/join", repeatable=True)
    async def web_account_join(self, workspace: str, digest: str, name: str, member: str | None) -> WebPerson | None:
        """Returns the person that the account signs in from now on: a new one, or that member. None if the
        member has another account. Refused like `web_join`."""

    @call("web/account/free", repeatable=True)
    async def web_account_free(self, workspace: str, members: tuple[str, ...]) -> tuple[WebPerson, ...]:
        """Returns the people among these that no account signs in."""

    async def web_message_post(self, workspace: str, post: WebPost) -> WebMessage | None:
        """Stores a message, once per key or event; None if its author or reader is not in the chat.

        Refused if the author writes too fast.
        """
        once = post.key is not None or post.event is not None
        return await self.send("web/message/post", OPTIONAL_MESSAGE, repeatable=once, workspace=workspace, post=post)

    @call("web/message/replace", repeatable=True)
    async def web_message_replace(
        self, workspace: str, message: int, content: str, member: str | None
    ) -> WebMessage | None:
        """Replaces a member's private message, or with None as the member one that was delivered; None if there is no
        such message."""

    @call("web/message/key", repeatable=True)
    async def web_message_key(self, workspace: str, key: str) -> int | None:
        """Returns the id of the message stored under a key."""

    @call("web/message/find", repeatable=True)
    async def web_message_find(self, workspace: str, message: int, member: str) -> WebMessage | None:
        """Returns a message if the member may see it."""

    @call("web/message/results", repeatable=True)
    async def web_message_results(self, workspace: str, editor: int, member: str, limit: int = 5) -> WebMessages:
        """Returns an editor's result and later private deliveries, the latest change first."""

    @call("web/message/list", repeatable=True)
    async def web_message_list(
        self, workspace: str, member: str, channel: str, after: int = 0, before: int = 2**63 - 1, limit: int = 200
    ) -> WebMessages:
        """Returns the newest messages that a member may see in the channel, oldest first: those that changed after a
        version, and those older than the message `before`."""

    @call("web/changes", repeatable=True)
    async def web_changes(self, workspace: str, after: int, sign_outs: int, wait_s: float = 0) -> WebChanges:
        """Returns what changed in the chat, waiting up to `wait_s` for something."""
