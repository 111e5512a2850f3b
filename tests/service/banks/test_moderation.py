"""Reports and keys: who may say what is wrong, and who may know what is right."""

from __future__ import annotations

from datetime import date, timedelta

from service.banks import moderation
from service.wire import NotFound, NotMet, StillOpen, TextNeeded
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage, question

DAY = date(2026, 3, 2)


class TestReports:
    """From a member's word to the moderators' queue and out of it."""

    async def test_a_report_lands_in_the_queue_with_its_author(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        view = await moderation.report(stage.session, ada, "Views", "  t() does not copy. ", stage.now)
        assert (view.by, view.text, view.at, view.state) == ("Ada", "t() does not copy.", NOON, "open")
        (queued,) = await moderation.list_reports(stage.session, ada)
        assert queued == view.model_copy(update={"question": "views"})

    async def test_open_ones_come_first_and_the_newest_of_them(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        made = [await moderation.report(stage.session, ada, "views", text, stage.now) for text in "abc"]
        await moderation.settle(stage.session, ada, made[2].id, "dismissed")
        queue = await moderation.list_reports(stage.session, ada)
        assert [(view.text, view.state) for view in queue] == [("b", "open"), ("a", "open"), ("c", "dismissed")]
        assert (await moderation.settle(stage.session, ada, made[2].id, "fixed")).state == "fixed"

    async def test_empty_reports_and_unknown_questions_are_rejected(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        with refused(TextNeeded(what="report")):
            await moderation.report(stage.session, ada, "views", " \n", stage.now)
        with refused(NotFound(what="question", name="nope")):
            await moderation.report(stage.session, ada, "nope", "wrong", stage.now)
        with refused(NotFound(what="report", name="7")):
            await moderation.settle(stage.session, ada, 7, "fixed")

    async def test_another_workspace_sees_nothing_of_it(self, stage: Stage) -> None:
        ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
        await stage.bank(question("ours"), workspace_id=ada.workspace_id)
        view = await moderation.report(stage.session, ada, "ours", "wrong", stage.now)
        assert await moderation.list_reports(stage.session, eve) == ()
        with refused(NotFound(what="report", name=str(view.id))):
            await moderation.settle(stage.session, eve, view.id, "fixed")
        with refused(NotFound(what="question", name="ours")):
            await moderation.report(stage.session, eve, "ours", "wrong", stage.now)


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
