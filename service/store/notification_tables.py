"""Tables of the private messages that members opt in to: their settings, and the reminders decided on."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


class NotificationSetting(Base):
    """What a member wants to be told in private. Without a row, nothing."""

    __tablename__ = "notification_setting"
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True)
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), index=True)
    """The chat in which the member last changed a setting, where the messages go."""
    reminders: Mapped[bool] = mapped_column(server_default=text("false"))
    results: Mapped[bool] = mapped_column(server_default=text("false"))
    refused: Mapped[str] = mapped_column(server_default="")
    """Why the chat refused the latest message; empty if it accepted it."""


class Reminder(Base):
    """The decision whether to remind a member of a round, made once."""

    __tablename__ = "reminder"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
    at: Mapped[datetime]
