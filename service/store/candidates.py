"""Questions that may be asked in workspaces. The rules for choosing one are in `service.domain.selection`.

Banks change rarely and are read for every round, so what can be chosen from a bank is cached in the process. Part of
the cache's key is a stamp made of all changes of the bank, which the database records.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, cast

from sqlalchemy import CompoundSelect, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from questions.model import Kind, Level
from service.deferred import load_module
from service.domain.difficulty import Difficulty
from service.domain.selection import Candidate, CandidateGroup, PastRound
from service.store import calibrations
from service.store.banks import has_variants, is_current
from service.store.calibrations import Calibration, ItemDifficulty
from service.store.competition_tables import Sprint, SprintQuestion
from service.store.monitoring import has_gpu, needs_gpu
from service.store.statements import built_once
from service.store.tables import BankChange, BankRow, QuestionRow, QuestionVersion, Retirement, Round, Schedule

MAX_CACHED: Final = 200_000
"""Questions in the cache; about 200 bytes each."""


@dataclass(frozen=True, slots=True)
class _Askable:
    """A question that may be asked, if nothing in the workspace forbids it."""

    question_id: int
    id: str
    """Of the current version, as candidates name it."""
    version: int
    group: int
    """Place of its group."""


@dataclass(frozen=True, slots=True)
class _Pool:
    """What may be asked of a bank, in groups of questions that differ in their ids only."""

    groups: Sequence[CandidateGroup]
    gpu: Collection[int]
    """Places of the groups that need a GPU."""
    by_question: Mapping[int, _Askable]
    by_id: Mapping[str, _Askable]


@dataclass(frozen=True, slots=True)
class _Past:
    """When and how often a schedule asked a question."""

    last: date
    times: int


@dataclass(frozen=True)
class Candidates:
    """What may be asked in some workspaces, as of one instant. Read with a constant number of statements."""

    _pools: Mapping[int, Sequence[_Pool]]
    """By workspace."""
    _left_out: dict[int, set[int]]
    """Questions that a workspace retired, or keeps secret now, by workspace."""
    _calibrations: Mapping[int, Calibration]
    _measured: Mapping[int, Mapping[tuple[int, int], Difficulty]]
    """By workspace; by question and version."""
    _gpu: bool
    """Whether questions that need a GPU may be asked."""

    def groups_for(
        self,
        workspace_id: int,
        schedule_id: int | None = None,
        history: Sequence[PastRound] = (),
        audience: Sequence[float] | None = None,
    ) -> list[CandidateGroup]:
        """Returns the workspace's candidates. `id` is the id of the question version.

        The expected share is that of the members who answer the schedule, or without one of the workspace's; with
        `audience`, that of members with these abilities. With a history, candidates say when and how often it asked
        them.
        """
        past = _summarize(history)
        found: list[CandidateGroup] = []
        difficulties: list[Difficulty | None] = []
        for pool in self._pools.get(workspace_id, ()):
            self._add_pool(pool, workspace_id, past, found, difficulties)
        calibration = self._calibrations.get(workspace_id)
        if calibration is None:
            return found
        known = [
            calibration.scale.predict(group.like.level, group.like.topic) if measured is None else measured
            for group, measured in zip(found, difficulties, strict=True)
        ]
        from service.domain.calibration import expected_shares  # loaded by `load`

        shares = expected_shares(calibration.audience(schedule_id) if audience is None else audience, known)
        return [
            CandidateGroup(replace(group.like, expected=share), group.ids)
            for group, share in zip(found, shares, strict=True)
        ]

    def current_version(self, workspace_id: int, question_id: int) -> int | None:
        """Returns the id of the version of a question that may be asked; None if it may not be asked now."""
        if question_id in self._left_out.get(workspace_id, ()):
            return None
        for pool in self._pools.get(workspace_id, ()):
            askable = pool.by_question.get(question_id)
            if askable is not None and (self._gpu or askable.group not in pool.gpu):
                return int(askable.id)
        return None

    def ask(self, workspace_id: int, version_id: str) -> None:
        """Leaves a question out from now on, because it is asked in the workspace."""
        for pool in self._pools.get(workspace_id, ()):
            if (askable := pool.by_id.get(version_id)) is not None:
                self._left_out.setdefault(workspace_id, set()).add(askable.question_id)

    def leave_out(self, workspace_id: int, question_ids: Collection[int]) -> None:
        """Leaves these questions out from now on in the workspace."""
        self._left_out.setdefault(workspace_id, set()).update(question_ids)

    def _add_pool(
        self,
        pool: _Pool,
        workspace_id: int,
        past: Mapping[str, _Past],
        found: list[CandidateGroup],
        difficulties: list[Difficulty | None],
    ) -> None:
        gone = {pool.by_question[id_].id for id_ in self._left_out.get(workspace_id, ()) if id_ in pool.by_question}
        single: dict[str, Difficulty | None] = {id_: None for id_ in past if id_ in pool.by_id}
        for (question_id, version), difficulty in self._measured.get(workspace_id, {}).items():
            askable = pool.by_question.get(question_id)
            if askable is not None and askable.version == version:
                single[askable.id] = difficulty
        touched = {pool.by_id[id_].group for id_ in (*gone, *single)}
        for place, group in enumerate(pool.groups):
            if place in pool.gpu and not self._gpu:
                continue
            ids = [id_ for id_ in group.ids if id_ not in gone and id_ not in single] if place in touched else group.ids
            if ids:
                found.append(CandidateGroup(group.like, ids))
                difficulties.append(None)
        for id_, measured in single.items():
            askable = pool.by_id[id_]
            if id_ in gone or (askable.group in pool.gpu and not self._gpu):
                continue
            like, asked = pool.groups[askable.group].like, past.get(id_)
            if asked is not None:
                like = replace(like, last_asked=asked.last, times_asked=asked.times)
            found.append(CandidateGroup(like, [id_]))
            difficulties.append(measured)


async def load(
    session: AsyncSession, workspace_ids: Collection[int], *, anywhere: bool = False, secret: bool = True
) -> Candidates:
    """Reads what may be asked in these workspaces now.

    Leaves out questions that no connected sandbox can judge, unless `anywhere` is set. With `secret`, leaves out what
    a workspace is asking now, in a round or a sprint: the reveal of one must not give away the key of another.
    """
    left_out = defaultdict[int, set[int]](set)
    query, values = (_select_retired_or_asked if secret else _select_retired)(workspace_ids)
    for workspace_id, question_id in await session.execute(query, values):
        left_out[workspace_id].add(question_id)
    pools, gpu = await _load_pools(session, workspace_ids)
    found = await calibrations.find_each(session, workspace_ids)
    if found:
        await load_module("service.domain.calibration")
    return Candidates(
        pools,
        left_out,
        found,
        await _list_measured(session, workspace_ids),
        anywhere or gpu,
    )


async def list_candidates(
    session: AsyncSession,
    *,
    workspace_id: int,
    schedule_id: int | None,
    anywhere: bool = False,
    secret: bool = False,
    audience: Sequence[float] | None = None,
) -> list[Candidate]:
    """Returns the questions that may be asked in this workspace now, each by itself.

    With a schedule, each candidate says when and how often any of its versions was asked there. With a schedule, and
    if the key is to be `secret`, questions that the workspace is asking now are left out. The rest is as in `load` and
    `Candidates.groups_for`.
    """
    known = await load(session, [workspace_id], anywhere=anywhere, secret=secret or schedule_id is not None)
    history = [] if schedule_id is None else await list_past_rounds(session, schedule_id)
    groups = known.groups_for(workspace_id, schedule_id, history, audience)
    return [replace(group.like, id=id_) for group in groups for id_ in group.ids]


async def list_past_rounds(session: AsyncSession, schedule_id: int) -> list[PastRound]:
    """Returns the posted rounds of the schedule, oldest first, with the current version of each question."""
    return (await list_past_rounds_each(session, [schedule_id])).get(schedule_id, [])


async def list_past_rounds_each(session: AsyncSession, schedule_ids: Collection[int]) -> dict[int, list[PastRound]]:
    """Returns the posted rounds by schedule, as `list_past_rounds`."""
    found: dict[int, list[PastRound]] = {}
    for schedule_id, id_, day, topic, level in await session.execute(*_select_past_rounds(schedule_ids)):
        found.setdefault(schedule_id, []).append(PastRound(str(id_), day, topic, cast(Level | None, level)))
    return found


@built_once
def _select_past_rounds(schedule_ids: Collection[int]) -> Select[int, int, date, str, str | None]:
    then, now = aliased(QuestionVersion), aliased(QuestionVersion)
    return (
        select(Round.schedule_id, now.id, Round.day, now.topic, now.level)
        .select_from(Round)
        .join(then, then.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == then.question_id)
        .join(now, (now.question_id == QuestionRow.id) & (now.version == QuestionRow.current) & (now.drawing == 0))
        .where(Round.schedule_id.in_(schedule_ids))
        .order_by(Round.opens_at, Round.id)
    )


def _summarize(history: Iterable[PastRound]) -> dict[str, _Past]:
    found: dict[str, _Past] = {}
    for past in history:
        before = found.get(past.id)
        found[past.id] = _Past(past.day, 1) if before is None else _Past(max(before.last, past.day), before.times + 1)
    return found


@built_once
def _select_retired(workspace_ids: Collection[int]) -> Select[int, int]:
    return _retired(workspace_ids)


def _retired(workspace_ids: Collection[int]) -> Select[int, int]:
    return select(Retirement.workspace_id, Retirement.question_id).where(Retirement.workspace_id.in_(workspace_ids))


@built_once
def _select_retired_or_asked(workspace_ids: Collection[int]) -> CompoundSelect[int, int]:
    in_round = (
        select(Schedule.workspace_id, QuestionVersion.question_id)
        .join(Round, Round.schedule_id == Schedule.id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .where(Schedule.workspace_id.in_(workspace_ids), Round.closed_at.is_(None), Round.skipped.is_(None))
    )
    in_sprint = (
        select(Sprint.workspace_id, QuestionVersion.question_id)
        .join(SprintQuestion, SprintQuestion.sprint_id == Sprint.id)
        .join(QuestionVersion, QuestionVersion.id == SprintQuestion.version_id)
        .where(Sprint.workspace_id.in_(workspace_ids), Sprint.ended_at.is_(None), SprintQuestion.settled_at.is_(None))
    )
    return _retired(workspace_ids).union_all(in_round, in_sprint)


async def _list_measured(
    session: AsyncSession, workspace_ids: Collection[int]
) -> dict[int, dict[tuple[int, int], Difficulty]]:
    found: dict[int, dict[tuple[int, int], Difficulty]] = {}
    for workspace_id, question_id, version, value, error in await session.execute(*_select_measured(workspace_ids)):
        found.setdefault(workspace_id, {})[question_id, version] = Difficulty(value, error)
    return found


@built_once
def _select_measured(workspace_ids: Collection[int]) -> Select[int, int, int, float, float]:
    item = ItemDifficulty
    query = select(item.workspace_id, item.question_id, item.version, item.value, item.error)
    return query.where(item.workspace_id.in_(workspace_ids))


_cache: OrderedDict[tuple[int, int | None], _Pool] = OrderedDict()


async def _load_pools(session: AsyncSession, workspace_ids: Collection[int]) -> tuple[dict[int, list[_Pool]], bool]:
    """Returns the pools of the banks that each workspace sees, and whether a sandbox has a GPU."""
    rows = (await session.execute(*_select_banks(workspace_ids))).all()
    banks = [(bank_id, stamp, owner) for bank_id, stamp, owner, _ in rows]
    pools = {bank_id: pool for bank_id, stamp, _ in banks if (pool := _cache.get((bank_id, stamp))) is not None}
    missing = {bank_id: stamp for bank_id, stamp, _ in banks if bank_id not in pools}
    if missing:
        pools |= await _read_pools(session, missing)
    _remember(((bank_id, stamp), pools[bank_id]) for bank_id, stamp, _ in banks)
    shared = [pools[bank_id] for bank_id, _, owner in banks if owner is None]
    own = defaultdict[int, list[_Pool]](list)
    for bank_id, _, owner in banks:
        if owner is not None:
            own[owner].append(pools[bank_id])
    gpu = any(gpu for *_, gpu in rows)
    return {workspace_id: [*shared, *own[workspace_id]] for workspace_id in workspace_ids}, gpu


@built_once
def _select_banks(workspace_ids: Collection[int]) -> Select[int, int | None, int | None, bool]:
    stamp = select(func.bit_xor(BankChange.mark)).where(BankChange.bank_id == BankRow.id).scalar_subquery()
    query = select(BankRow.id, stamp, BankRow.workspace_id, has_gpu())
    query = query.where(or_(BankRow.workspace_id.is_(None), BankRow.workspace_id.in_(workspace_ids)))
    return query.order_by(BankRow.id)


def _remember(pools: Iterable[tuple[tuple[int, int | None], _Pool]]) -> None:
    """Keeps the pools, and those used lately, up to `MAX_CACHED` questions."""
    for key, pool in pools:
        _cache[key] = pool
        _cache.move_to_end(key)
    size = sum(len(pool.by_id) for pool in _cache.values())
    while size > MAX_CACHED and len(_cache) > 1:
        size -= len(_cache.popitem(last=False)[1].by_id)


async def _read_pools(session: AsyncSession, bank_ids: Collection[int]) -> dict[int, _Pool]:
    # Without the long question bodies.
    proved = func.coalesce(QuestionVersion.body["proof"].astext, "") != ""
    version = QuestionVersion
    query = (
        select(
            QuestionRow.bank_id,
            QuestionRow.id,
            version.id,
            version.version,
            *(version.kind, version.level, version.topic),
            proved,
            needs_gpu(),
        )
        .join(QuestionRow, is_current())
        .where(
            QuestionRow.bank_id.in_(bank_ids),
            version.answered.is_(True),
            or_(version.family.is_(False), has_variants()),
            QuestionRow.retired_at.is_(None),
            QuestionRow.held.is_(False),
        )
    )
    found = {bank_id: _PoolBuilder() for bank_id in bank_ids}
    for bank_id, question_id, version_id, number, kind, level, topic, has_proof, gpu in await session.execute(query):
        like = Candidate("", cast(Kind, kind), cast(Level | None, level), topic, proved=has_proof)
        found[bank_id].add(question_id, str(version_id), number, like, gpu)
    return {bank_id: builder.build() for bank_id, builder in found.items()}


class _PoolBuilder:
    def __init__(self) -> None:
        self._places: dict[tuple[Candidate, bool], int] = {}
        self._groups: list[CandidateGroup] = []
        self._by_question: dict[int, _Askable] = {}

    def add(self, question_id: int, id_: str, version: int, like: Candidate, gpu: bool) -> None:
        place = self._places.setdefault((like, gpu), len(self._groups))
        if place == len(self._groups):
            self._groups.append(CandidateGroup(like, []))
        self._groups[place].ids.append(id_)
        self._by_question[question_id] = _Askable(question_id, id_, version, place)

    def build(self) -> _Pool:
        gpu = frozenset(place for (_, needed), place in self._places.items() if needed)
        by_id = {askable.id: askable for askable in self._by_question.values()}
        return _Pool(tuple(self._groups), gpu, self._by_question, by_id)
