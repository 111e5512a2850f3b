"""Sets a scene in the database for the tests of use cases: banks, rounds that were, points that were booked."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Bank, Level, Option, Question, SourceLocation
from questions.reader import Reading
from questions.source import Source
from service.banks.imports import import_bank
from service.store.members import Caller, resolve_caller
from service.store.tables import AnswerRow, CurrentAnswer, Ledger, Member, QuestionVersion, Round, Schedule, VerdictRow
from service.store.tables import QuestionRow as QuestionRow
from service.wire import ImportView, ScheduleSpec, Where, Who

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
"""A Wednesday."""
HOME = Where(channel="daily", name="#daily")


def question(
    id_: str = "views", *, topic: str = "tensors/memory", level: Level | None = "mid", **more: object
) -> Question:
    """Returns a small choice question."""
    made = {
        "id": id_,
        "kind": "choice",
        "prompt": f"What of {id_}?",
        "place": SourceLocation("bank.md", 3, 9),
        "options": (Option("a", "This", True), Option("b", "That", False, "a misconception")),
        "answer": "This",
        "topic": topic,
        "level": level,
    }
    return Question(**{**made, **more})  # type: ignore[arg-type]


def reading(*questions: Question, name: str = "home", title: str = "A bank") -> Reading:
    """Returns a reading without findings."""
    return Reading(Bank(name, title, questions), (), (), Source(f"{name}.md", ("",)))


def these(*member_ids: int) -> Select[int]:
    """Selects the members with these ids."""
    return select(Member.id).where(Member.id.in_(member_ids))


@dataclass
class Stage:
    """A scene on one session, at an instant that is moved by hand."""

    session: AsyncSession
    now: datetime = NOON
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def caller(
        self, name: str = "Ada", *, workspace: str = "home", where: Where | None = HOME, admin: bool = False
    ) -> Caller:
        """Returns a calling member."""
        who = Who(platform="web", workspace=workspace, member=name.lower(), name=name, admin=admin)
        return await resolve_caller(self.session, who, where, self.now)

    async def bank(self, *questions: Question, workspace_id: int | None = None, name: str = "home") -> ImportView:
        """Imports these questions as a bank."""
        return await import_bank(self.session, reading(*questions, name=name), workspace_id, self.now, True)

    async def schedule(self, caller: Caller, **spec: object) -> Schedule:
        """Adds a schedule of the caller's channel."""
        assert caller.channel_id is not None
        row = Schedule(
            workspace_id=caller.workspace_id,
            channel_id=caller.channel_id,
            spec=ScheduleSpec.model_validate(spec).model_dump(mode="json"),
            since=self.now,
        )
        self.session.add(row)
        await self.session.flush()
        return row

    async def version(self, key: str) -> QuestionVersion:
        """Returns the current version of a question or family."""
        query = select(QuestionVersion).join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        current = QuestionVersion.version == QuestionRow.current
        query = query.where(QuestionRow.key == key, current, QuestionVersion.drawing == 0)
        return (await self.session.scalars(query)).one()

    async def round(
        self,
        schedule: Schedule,
        day: date,
        key: str | None = "views",
        *,
        number: int = 0,
        closed: bool = True,
        skipped: str | None = None,
    ) -> Round:
        """Opens a round at 9:00 UTC of its day, for eight hours; with a `number` an extra one."""
        opens = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
        closes = opens + timedelta(hours=8)
        row = Round(
            schedule_id=schedule.id,
            day=day,
            number=number,
            version_id=None if key is None else (await self.version(key)).id,
            opens_at=opens,
            closes_at=closes,
            closed_at=closes if closed and not skipped else None,
            skipped=skipped,
        )
        self.session.add(row)
        await self.session.flush()
        return row

    async def answer(
        self,
        caller: Caller,
        round_: Round,
        *,
        credit: float = 1.0,
        text: str | None = None,
        option: str = "a",
        variant: int | None = None,
    ) -> AnswerRow:
        """Adds a judged answer that counts in a round: to its question, or to the member's own variant."""
        assert round_.version_id is not None
        row = await self._answer(caller, variant or round_.version_id, round_, text, option)
        self.session.add(CurrentAnswer(round_id=round_.id, member_id=caller.member_id, answer_id=row.id))
        await self._judge(row, credit)
        return row

    async def practiced(self, caller: Caller, key: str, credit: float = 1.0) -> AnswerRow:
        """Adds a judged practice answer."""
        row = await self._answer(caller, (await self.version(key)).id, None, None)
        await self._judge(row, credit)
        return row

    async def points(
        self, caller: Caller, points: int, *, round_: Round | None = None, credit: float | None = 1.0, **more: object
    ) -> None:
        """Adds points to the ledger, at the round's opening or now."""
        values: Mapping[str, object] = {
            "key": f"booking {next(self.numbers)}",
            "workspace_id": caller.workspace_id,
            "member_id": caller.member_id,
            "round_id": round_ and round_.id,
            "points": points,
            "credit": credit if round_ else None,
            "seconds": 30.0 if round_ else None,
            "reason": "round" if round_ else "adjustment",
            "at": round_.opens_at if round_ else self.now,
        }
        self.session.add(Ledger(**{**values, **more}))
        await self.session.flush()

    async def _answer(
        self, caller: Caller, version_id: int, round_: Round | None, text: str | None, option: str = "a"
    ) -> AnswerRow:
        number = next(self.numbers)
        row = AnswerRow(
            member_id=caller.member_id,
            round_id=round_ and round_.id,
            version_id=version_id,
            number=1 if round_ else 0,
            event_id=f"event {number}",
            given={"options": [option], "text": text, "code": None},
            name=caller.name,
            at=self.now,
        )
        self.session.add(row)
        await self.session.flush()
        return row

    async def _judge(self, answer: AnswerRow, credit: float) -> None:
        verdict = "accepted" if credit == 1 else "wrong"
        row = VerdictRow(
            answer_id=answer.id,
            version_id=answer.version_id,
            verdict=verdict,
            credit=credit,
            detail={"judged": "something"},
            at=self.now,
        )
        self.session.add(row)
        await self.session.flush()
