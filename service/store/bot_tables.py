"""Tables of the bots themselves: which applications run, and the chats' events that they have received."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Identity, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


class BotApplication(Base):
    """An application of a chat platform, such as production's or staging's, and when one of its bots last called."""

    __tablename__ = "bot_application"
    platform: Mapped[str] = mapped_column(primary_key=True)
    application: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]


class ReceivedEvent(Base):
    """An event that a bot acknowledged, so that only one process answers it, and another one if that dies."""

    __tablename__ = "received_event"
    __table_args__ = (
        Index("ix_received_event_waiting", "claimed_until", postgresql_where=text("content is not null")),
        Index("ix_received_event_at", "at"),
        Index(
            "ix_received_event_author",
            "platform",
            "application",
            "author",
            "number",
            postgresql_where=text("content is not null and author <> ''"),
        ),
    )
    platform: Mapped[str] = mapped_column(primary_key=True)
    application: Mapped[str] = mapped_column(primary_key=True)
    event_id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    content: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """The event and the way back to its author; None once it is answered."""
    claimed_until: Mapped[datetime]
    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    """Order of arrival."""
    author: Mapped[str] = mapped_column(server_default="")
    """The person whose events are answered in order; empty if this one waits for none, or is answered."""
