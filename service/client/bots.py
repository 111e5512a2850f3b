"""The calls of the bots themselves, with the service token: outbox, events, chats and installations.

Neither client nor service logs tokens.
"""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import datetime

from pydantic import SecretStr, TypeAdapter

from service.client.calls import CallSender, call
from service.wire import (
    AttemptOutcome,
    Delivery,
    Installation,
    InstallationKey,
    PostingChannel,
    ReceivedEvent,
    Recorded,
    Secret,
    Shards,
)

NOTHING: TypeAdapter[None] = TypeAdapter(None)
OPTIONAL_INSTALLATION: TypeAdapter[Installation | None] = TypeAdapter(Installation | None)
OPTIONAL_SECRET: TypeAdapter[SecretStr | None] = TypeAdapter(Secret | None)


class BotCalls(CallSender):
    """One method per call."""

    @call("outbox/claim")
    async def outbox_claim(
        self,
        platform: str,
        limit: int = 20,
        wait_s: float = 0,
        shards: Shards | None = None,
        kinds: tuple[str, ...] | None = None,
    ) -> tuple[Delivery, ...]:
        """Claims messages to post now, at most one per channel to preserve order. Waits up to `wait_s` for new ones.

        With `shards`, only those for servers of these shards. With `kinds`, a message of another kind waits, with those
        behind it, for a caller that can read it: after an upgrade, for a newer bot.
        """

    @call("outbox/places", repeatable=True)
    async def outbox_places(self, platform: str) -> tuple[PostingChannel, ...]:
        """Returns every channel of the platform that a schedule posts to, so that the doctor can check it."""

    @call("outbox/sent", repeatable=True)
    async def outbox_sent(self, delivery: int, message_ref: str) -> None: ...

    async def outbox_failed(
        self,
        delivery: int,
        attempt: int,
        error: str,
        *,
        outcome: AttemptOutcome,
        retry_s: float | None = None,
    ) -> None:
        """Reports a delivery that was not, or perhaps not, made.

        Ignored unless `attempt` is the attempt that holds the message now.
        """
        await self.send(
            "outbox/failed",
            NOTHING,
            repeatable=True,
            delivery=delivery,
            attempt=attempt,
            error=error[:1000],
            outcome=outcome,
            retry_s=retry_s,
        )

    @call("outbox/retry", repeatable=True)
    async def outbox_retry(self, platform: str, workspace: str, channel: str = "") -> None:
        """Says that what a chat refused may be accepted now: everything, or only messages to that channel."""

    @call("chat/channel", repeatable=True)
    async def channel_renamed(self, platform: str, workspace: str, channel: str, name: str) -> None:
        """Says that a channel has a new name. Does nothing if the quiz does not know the channel."""

    @call("chat/home", repeatable=True)
    async def member_home(self, platform: str, member: str) -> str:
        """Returns the chat in which the member answered last, or else joined last; empty if none knows them."""

    @call("chat/presence", repeatable=True)
    async def chat_presence(self, platform: str, workspace: str, present: bool) -> None:
        """Says that the bot is in the chat, or was removed from it: then its schedules post nothing there."""

    @call("events/record")
    async def event_record(self, platform: str, event: ReceivedEvent) -> Recorded:
        """Records an event before it is acknowledged, and leases it unless it was recorded before."""

    @call("events/turn", repeatable=True)
    async def event_turn(self, platform: str, event: str) -> bool:
        """Extends the lease of an event; returns whether every earlier event of its author is answered."""

    @call("events/answered", repeatable=True)
    async def event_answered(self, platform: str, event: str) -> None:
        """Says that an event was answered."""

    @call("events/claim")
    async def event_claim(self, platform: str, limit: int = 50) -> tuple[ReceivedEvent, ...]:
        """Leases events that were not answered in time."""

    @call("installation/keep")
    async def installation_keep(self, installation: Installation, used: str = "") -> None:
        """Stores a new installation. With the refresh token that was `used` to get its new tokens, stores those and
        ends its lease, unless the app was removed or installed again meanwhile."""

    async def installation_find(self, platform: str, team: str, enterprise: str = "") -> Installation | None:
        """Returns the team's installation, or else its enterprise's; None if the bot is not installed."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/find", OPTIONAL_INSTALLATION, repeatable=True, key=key)

    async def installation_forget(
        self, platform: str, team: str, enterprise: str = "", removed_at: datetime | None = None
    ) -> None:
        """Deletes the tokens, because the bot was uninstalled or its token revoked, unless they are newer than that."""
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        await self.send("installation/forget", NOTHING, repeatable=False, key=key, removed_at=removed_at)

    @call("installation/due", repeatable=True)
    async def installation_due(self, platform: str) -> tuple[InstallationKey, ...]:
        """Returns the installations whose token should be refreshed now, most urgent first."""

    async def installation_lease(self, platform: str, team: str, enterprise: str = "") -> SecretStr | None:
        """Leases the refresh token to one caller, who then passes the new tokens to `installation_keep`.

        Returns None if no refresh is due or another caller has the lease.
        """
        key = {"platform": platform, "team": team, "enterprise": enterprise}
        return await self.send("installation/lease", OPTIONAL_SECRET, repeatable=False, key=key)

    @call("oauth/issue")
    async def oauth_issue(self, platform: str) -> str:
        """Returns an OAuth state for the platform's consent page, valid once, for ten minutes."""

    @call("oauth/consume")
    async def oauth_consume(self, platform: str, state: str) -> bool:
        """Returns whether the OAuth state is valid: issued here, not expired, and not used before."""
