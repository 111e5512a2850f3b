"""Question versions, read from rows into the question model. Queries over banks are in `banks`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question, from_data
from service.store import banks, duels
from service.store.members import Caller
from service.store.statements import built_once
from service.store.tables import BankRow, QuestionVersion
from service.store.tables import QuestionRow as QuestionRow

MAX_CACHED: Final = 1000
"""Versions that are kept in the process, those that were answered last."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a question with its bank."""

    id: int
    question_id: int
    number: int
    bank: str
    """Title of the bank."""
    license: str
    question: Question
    place: str = ""
    """Document and line, now or at the time of this version."""
    drawing: int = 0
    """Number of the variant of a family; 0 for the document's own content."""


async def get_version(session: AsyncSession, version_id: int) -> Version:
    """Returns the version with this id. Raises NoResultFound if there is none."""
    return _read((await session.execute(*_select_version(version_id))).one())


async def get_asked(session: AsyncSession, version_id: int, digest: str) -> Version:
    """Returns the version with this id and this digest of its content.

    Versions never change, so they are cached. Their place and what is said of their bank may be out of date.
    """
    key = (version_id, digest)
    found = _asked.get(key)
    if found is None:
        found = _asked[key] = await get_version(session, version_id)
    _asked.move_to_end(key)
    if len(_asked) > MAX_CACHED:
        _asked.popitem(last=False)
    return found


_asked: OrderedDict[tuple[int, str], Version] = OrderedDict()


async def list_versions(session: AsyncSession, version_ids: Collection[int]) -> dict[int, Version]:
    """Returns these versions, by id."""
    if not version_ids:
        return {}
    rows = await session.execute(*_select_versions(version_ids))
    return {version.id: version for version in map(_read, rows)}


async def find_version(session: AsyncSession, workspace_id: int, version_id: int) -> Version | None:
    """Returns the version, if its bank is shared or owned by this workspace."""
    row = (await session.execute(*_select_visible(version_id, workspace_id))).one_or_none()
    return None if row is None else _read(row)


async def newest_version_id(session: AsyncSession, question_id: int) -> int:
    """Returns the id of the current version; for a family, of the family itself."""
    query = (
        select(QuestionVersion.id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(QuestionRow.id == question_id, QuestionVersion.version == QuestionRow.current)
    )
    return (await session.scalars(query.where(QuestionVersion.drawing == 0))).one()


async def get_deciding_version(session: AsyncSession, asked: Version) -> Version:
    """Returns the version whose key decides answers to this one: the newest, or else the one asked.

    Open answers are marked by the key points they were asked with, and variants keep the key that torch computed.
    """
    newest_id = await newest_version_id(session, asked.question_id)
    if newest_id == asked.id:
        return asked
    newest = await get_version(session, newest_id)
    usable = newest.question.answered and newest.question.kind == asked.question.kind != "open"
    return newest if usable and not (newest.question.draw or asked.drawing) else asked


async def hold_current(session: AsyncSession, version_id: int) -> None:
    """Keeps the question of a version from getting a newer one until the transaction ends; waits for one on its way."""
    asked = select(QuestionVersion.question_id).where(QuestionVersion.id == version_id).scalar_subquery()
    await session.execute(select(QuestionRow.id).where(QuestionRow.id == asked).with_for_update(read=True))


async def get_key(session: AsyncSession, question_id: int) -> str:
    """Returns the id of a question as its document has it; for a variant, that of its family."""
    return (await session.get_one(QuestionRow, question_id)).key


async def is_secret(session: AsyncSession, caller: Caller, question_id: int) -> bool:
    """Returns whether the key of a question is secret to the caller now: see `is_asked_now`, or a duel that they are
    playing asks it."""
    return await session.scalar(*_select_secret(caller.workspace_id, caller.member_id, question_id)) is not None


@built_once
def _select_secret(workspace_id: int, member_id: int, question_id: int) -> Select[int]:
    asked = banks.is_asked_now(workspace_id) | duels.is_asked_in_duel(member_id)
    return select(QuestionRow.id).where(QuestionRow.id == question_id, asked)


async def is_asked_now(session: AsyncSession, workspace_id: int, question_id: int) -> bool:
    """Returns whether a round or a sprint of this workspace is asking any version of the question now, or will in a
    running sprint. Its key is still secret."""
    return await session.scalar(*_select_asked(workspace_id, question_id)) is not None


async def list_secret(session: AsyncSession, workspace_id: int, member_id: int) -> frozenset[str]:
    """Returns the ids of the questions whose key is secret to the member now, as their documents have them."""
    asked = banks.is_asked_now(workspace_id) | duels.is_asked_in_duel(member_id)
    return frozenset(await session.scalars(select(QuestionRow.key).where(asked)))


@built_once
def _select_asked(workspace_id: int, question_id: int) -> Select[int]:
    return select(QuestionRow.id).where(QuestionRow.id == question_id, banks.is_asked_now(workspace_id))


@built_once
def _select_version(version_id: int) -> _Rows:
    return _select().where(QuestionVersion.id == version_id)


@built_once
def _select_visible(version_id: int, workspace_id: int) -> _Rows:
    return _select().where(QuestionVersion.id == version_id, banks.is_visible_to(workspace_id))


@built_once
def _select_versions(version_ids: Collection[int]) -> _Rows:
    return _select().where(QuestionVersion.id.in_(version_ids))


def _select() -> _Rows:
    return (
        select(QuestionVersion, BankRow.title, BankRow.license, QuestionRow.current, QuestionRow.place)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
    )


_Rows = Select[QuestionVersion, str, str, int, dict[str, Any] | None]


def _read(row: Row[QuestionVersion, str, str, int, dict[str, Any] | None]) -> Version:
    found, title, license, current, place = row
    question = from_data(found.body)
    found_at = place if place and found.version == current else found.body["place"]
    location = f"{PurePath(found_at['source']).name}, line {found_at['line']}"
    return Version(found.id, found.question_id, found.version, title, license, question, location, found.drawing)
