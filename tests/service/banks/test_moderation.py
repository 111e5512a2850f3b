"""Keys of questions: who may know what is right."""

from __future__ import annotations

from datetime import date, timedelta

from service.banks import moderation
from service.wire import NotFound, NotMet, StillOpen
from tests.service.refusals import refused
from tests.service.scenes import Stage, question

DAY = date(2026, 3, 2)


class TestKeys:
    """A key is shown to members who have met the question, and to no one while a round asks it."""

    async def test_who_practiced_it_may_see_it_as_it_is_asked_now(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await stage.bank(question("views"))
        await stage.practiced(ada, "views")
        await stage.bank(question("views", prompt="Put better?"))
        assert (await moderation.visible_version(stage.session, ada, "VIEWS")).question.prompt == "Put better?"
        with refused(NotMet(question="views")):
            await moderation.visible_version(stage.session, bo, "views")

    async def test_once_its_round_is_closed_everybody_there_may(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        eve = await stage.caller("Eve", workspace="away")
        await stage.bank(question("views"))
        round_ = await stage.round(await stage.schedule(ada), DAY, closed=False)
        await stage.answer(ada, round_)
        for member in (ada, bo):
            with refused(StillOpen()):
                await moderation.visible_version(stage.session, member, "views")
        round_.closed_at = stage.now
        await stage.session.flush()
        for member in (ada, bo):
            assert (await moderation.visible_version(stage.session, member, "views")).question.id == "views"
        with refused(NotMet(question="views")):
            await moderation.visible_version(stage.session, eve, "views")

    async def test_who_practiced_it_waits_while_a_later_round_asks_it(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        await stage.practiced(ada, "views")
        schedule = await stage.schedule(ada)
        await stage.round(schedule, DAY)
        await stage.round(schedule, DAY + timedelta(days=2), closed=False)
        with refused(StillOpen()):
            await moderation.visible_version(stage.session, ada, "views")

    async def test_another_workspaces_question_is_not_there(self, stage: Stage) -> None:
        ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
        await stage.bank(question("ours"), workspace_id=ada.workspace_id)
        with refused(NotFound(what="question", name="ours")):
            await moderation.visible_version(stage.session, eve, "ours")
