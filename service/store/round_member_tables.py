"""Tables of what one member has of a round beside answers: the hint they took, and their own variant of its family."""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


class HintTaken(Base):
    """A member's use of the hint of a round's question, which costs points."""

    __tablename__ = "hint_taken"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)


class MemberVariant(Base):
    """The variant that a round with `own_variants` asks one member. Drawn when the member first sees it, and changed
    only by a merge with another account."""

    __tablename__ = "member_variant"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
