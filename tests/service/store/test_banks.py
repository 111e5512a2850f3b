"""Which questions may be asked in a workspace, and their measured difficulty."""

from __future__ import annotations

from datetime import date

from service.domain.selection import Candidate, PastRound
from service.store import banks, duels, questions
from service.store.candidates import list_candidates, list_past_rounds
from tests.service.scenes import Stage, question

DAY, LATER = date(2026, 3, 2), date(2026, 3, 3)


async def candidates(stage: Stage, workspace_id: int, schedule_id: int | None = None) -> dict[str, Candidate]:
    """Returns the candidates by question id."""
    found = await list_candidates(stage.session, workspace_id=workspace_id, schedule_id=schedule_id)
    names = {}
    for candidate in found:
        version = await questions.get_version(stage.session, int(candidate.id))
        names[version.question.id] = candidate
    return names


async def test_answered_questions_of_shared_and_own_banks_can_be_asked(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await stage.bank(question("for-all"), question("open-ended", answer=None, options=(), kind="open"))
    await stage.bank(question("ours"), workspace_id=home.workspace_id)
    await stage.bank(question("theirs"), workspace_id=away.workspace_id)
    assert sorted(await candidates(stage, home.workspace_id)) == ["for-all", "ours"]
    assert sorted(await candidates(stage, away.workspace_id)) == ["for-all", "theirs"]


async def test_a_retired_question_is_not_asked_where_it_was_retired(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await stage.bank(question("views"), question("grad"))
    version = await stage.version("views")
    for _ in range(2):
        await banks.retire(stage.session, home.workspace_id, version.question_id, stage.now)
    assert sorted(await candidates(stage, home.workspace_id)) == ["grad"]
    assert sorted(await candidates(stage, away.workspace_id)) == ["grad", "views"]
    # Practice and duels ask of what is counted here.
    assert await duels.count_askable(stage.session, home.workspace_id, "") == 1
    assert await duels.count_askable(stage.session, away.workspace_id, "") == 2
    await banks.reinstate(stage.session, home.workspace_id, version.question_id)
    assert sorted(await candidates(stage, home.workspace_id)) == ["grad", "views"]


async def test_only_the_newest_version_is_asked_and_remembers_when_the_others_were(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("views"))
    schedule, other = await stage.schedule(ada), await stage.schedule(ada)
    await stage.round(schedule, DAY, "views")
    await stage.bank(question("views", prompt="Put better?"))
    await stage.round(schedule, LATER, "views")
    version = await stage.version("views")
    found = await candidates(stage, ada.workspace_id, schedule.id)
    assert found["views"] == Candidate(str(version.id), "choice", "mid", "tensors/memory", None, LATER, 2)
    for elsewhere in (other.id, None):
        found = await candidates(stage, ada.workspace_id, elsewhere)
        assert (found["views"].last_asked, found["views"].times_asked) == (None, 0)


async def test_a_question_open_in_the_workspace_is_no_candidate_for_another_round(stage: Stage) -> None:
    ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
    await stage.bank(question("views"), question("grad"))
    ours, other, theirs = await stage.schedule(ada), await stage.schedule(ada), await stage.schedule(eve)
    await stage.round(ours, DAY, "views", closed=False)
    await stage.bank(question("views", prompt="Put better?"), question("grad"))
    assert sorted(await candidates(stage, ada.workspace_id, other.id)) == ["grad"]
    assert sorted(await candidates(stage, eve.workspace_id, theirs.id)) == ["grad", "views"]


async def test_a_schedules_history_names_each_question_as_it_is_asked_now(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("views"), question("grad", topic="autograd"))
    schedule = await stage.schedule(ada)
    await stage.round(schedule, LATER, "grad")
    await stage.round(schedule, DAY, "views")
    await stage.round(schedule, date(2026, 3, 4), None, skipped="no question was left")
    await stage.bank(question("views", level="senior"), question("grad", topic="autograd"))
    views, grad = await stage.version("views"), await stage.version("grad")
    assert await list_past_rounds(stage.session, schedule.id) == [
        PastRound(str(views.id), DAY, "tensors/memory", "senior"),
        PastRound(str(grad.id), LATER, "autograd", "mid"),
    ]


async def test_topics_are_counted_by_what_may_be_asked(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(
        question("a"), question("b"), question("c", topic="autograd"), question("d", answer=None, options=())
    )
    assert await banks.count_topics(stage.session, ada.workspace_id) == [("autograd", 1), ("tensors/memory", 2)]


async def test_a_question_id_is_looked_up_in_the_teams_own_bank_first(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await stage.bank(question("views", prompt="Everybody's?"))
    await stage.bank(question("views", prompt="Ours?"), workspace_id=home.workspace_id)
    found = await banks.find_questions(stage.session, home.workspace_id, " VIEWS ")
    assert [version.body["prompt"] for _, version in found] == ["Ours?", "Everybody's?"]
    found = await banks.find_questions(stage.session, away.workspace_id, "views")
    assert [version.body["prompt"] for _, version in found] == ["Everybody's?"]
    assert await banks.find_questions(stage.session, home.workspace_id, "view") == []
