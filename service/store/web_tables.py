"""Tables of the web chat itself: who joined, their browsers, and the messages."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id


def of_person(table: str, column: str) -> ForeignKeyConstraint:
    """Returns a foreign key to a person of the same chat."""
    person = ["web_person.chat_id", "web_person.id"]
    return ForeignKeyConstraint(["chat_id", column], person, name=f"fk_{table}_{column}_web_person")


class WebState(Base):
    """What all processes of one web chat share. A change of its people, sessions or messages locks this row."""

    __tablename__ = "web_state"
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), primary_key=True)
    secret: Mapped[bytes | None]
    """Signs forms and cookies. Alone, it signs nobody in. None until it is first asked for."""
    encrypted: Mapped[bool]
    """Whether the secret is encrypted. It is if the service has a key."""
    version: Mapped[int]
    """Version of the latest change of a message."""
    sign_outs: Mapped[int]
    """Number of times that sessions ended or roles changed."""


class WebPersonRow(Base):
    """A person who joined. Of a forgotten one, only the id is left."""

    __tablename__ = "web_person"
    __table_args__ = (
        UniqueConstraint("chat_id", "folded", name="uq_web_person_chat_id_folded"),
        UniqueConstraint("chat_id", "skeleton", name="uq_web_person_chat_id_skeleton"),
        Index("ix_web_person_joined", "chat_id", "joined_at"),
    )
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str | None]
    folded: Mapped[str | None]
    """The name without case, as it is looked up."""
    skeleton: Mapped[str | None]
    """What the name looks like."""
    admin: Mapped[bool]
    joined_at: Mapped[datetime]


class WebMessageRow(Base):
    """A message, public or for one person. Its content is a card, a form or a text as JSON, which only bots read."""

    __tablename__ = "web_message"
    __table_args__ = (
        of_person("web_message", "member"),
        of_person("web_message", "author"),
        UniqueConstraint("chat_id", "version", name="uq_web_message_chat_id_version"),
        UniqueConstraint("chat_id", "key", name="uq_web_message_chat_id_key"),
        UniqueConstraint("chat_id", "event", name="uq_web_message_chat_id_event"),
        Index("ix_web_message_channel", "chat_id", "channel", "id"),
        Index("ix_web_message_member", "chat_id", "member", "answers"),
        Index("ix_web_message_author", "chat_id", "author", "at"),
        Index("ix_web_message_at", "at"),
    )
    id: Mapped[int] = new_id()
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"))
    version: Mapped[int]
    key: Mapped[str | None]
    event: Mapped[str | None]
    channel: Mapped[str]
    member: Mapped[str | None]
    author: Mapped[str | None]
    reply_to: Mapped[int | None]
    answers: Mapped[int | None]
    content: Mapped[str]
    at: Mapped[datetime]


class WebSessionRow(Base):
    """A browser that may act as a person. Of its secret, only a hash is kept."""

    __tablename__ = "web_session"
    __table_args__ = (
        of_person("web_session", "person"),
        UniqueConstraint("digest", name="uq_web_session_digest"),
        Index("ix_web_session_person", "chat_id", "person"),
        Index("ix_web_session_used", "used_at"),
    )
    id: Mapped[int] = new_id()
    chat_id: Mapped[int]
    person: Mapped[str]
    digest: Mapped[str]
    agent: Mapped[str]
    began_at: Mapped[datetime]
    used_at: Mapped[datetime]


class WebSignInRow(Base):
    """A link that signs a browser in, once. Of its code, only a hash is kept."""

    __tablename__ = "web_sign_in"
    __table_args__ = (
        of_person("web_sign_in", "person"),
        Index("ix_web_sign_in_person", "chat_id", "person"),
    )
    digest: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[int]
    person: Mapped[str]
    until: Mapped[datetime]


class WebAccountRow(Base):
    """An account at an OpenID provider that signs a person in. Of its issuer and subject, only a hash is kept."""

    __tablename__ = "web_account"
    __table_args__ = (
        of_person("web_account", "person"),
        UniqueConstraint("chat_id", "person", name="uq_web_account_chat_id_person"),
    )
    chat_id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    person: Mapped[str]
