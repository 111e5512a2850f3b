"""The calls of duels, sprints, tournaments and speed boards."""

# A call is declared by its signature, without a body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import datetime

from service.client.calls import CallSender, call
from service.wire import (
    AnswerInput,
    DuelReview,
    DuelTurn,
    DuelView,
    Ladder,
    MeasuredBy,
    MeasurementBoard,
    MyDuels,
    PlannedSprint,
    SimilarAnswers,
    SprintPulse,
    Sprints,
    SprintView,
    TournamentPlan,
    TournamentView,
    Where,
    Who,
)


class CompetitionCalls(CallSender):
    """One method per call. Those under `admin/` are refused to everyone but admins."""

    @call("duel/challenge")
    async def duel_challenge(
        self, who: Who, where: Where, event_id: str, member: str, known_as: str = "", topic: str = ""
    ) -> DuelView:
        """Challenges a member, by name or platform id. With `known_as`, their name, the platform says
        that the id is in the chat."""

    @call("duel/rematch")
    async def duel_rematch(self, who: Who, where: Where, event_id: str, duel: int) -> DuelView:
        """Challenges the other member of a duel that is over."""

    @call("duel/respond")
    async def duel_respond(self, who: Who, event_id: str, duel: int, accept: bool) -> DuelView:
        """Accepts or declines a challenge; its challenger withdraws it."""

    @call("duel/ask", repeatable=True)
    async def duel_ask(self, who: Who, ref: str) -> DuelTurn:
        """Returns the member's next question of a duel. Its time counts from the first call."""

    @call("duel/answer")
    async def duel_answer(self, who: Who, event_id: str, ref: str, given: AnswerInput, at: datetime) -> DuelTurn:
        """Answers a question of a duel; the first answer counts."""

    @call("duel/show", repeatable=True)
    async def duel_show(self, who: Who, duel: int) -> DuelReview:
        """Returns a duel of the member, and once it is over the answers."""

    @call("duel/list", repeatable=True)
    async def duel_list(self, who: Who) -> MyDuels: ...

    @call("duel/ladder", repeatable=True)
    async def duel_ladder(self, who: Who, limit: int = 10) -> Ladder:
        """Returns the members of the workspace by their rating."""

    @call("measurements", repeatable=True)
    async def measurements(
        self, who: Who, where: Where | None, ref: str = "", by: MeasuredBy = "time"
    ) -> MeasurementBoard:
        """Returns the speed board of a closed round; without `ref`, of the latest one that was measured."""

    @call("share-solution")
    async def share_solution(self, who: Who, event_id: str, ref: str, on: bool) -> MeasurementBoard:
        """Shows the member's measured code to the others, or hides it. Returns the board."""

    @call("tournament", repeatable=True)
    async def tournament(self, who: Who, title: str = "") -> TournamentView:
        """Returns the workspace's newest tournament, or the one with that title."""

    @call("tournament/join")
    async def tournament_join(self, who: Who, event_id: str, tournament: int = 0) -> TournamentView:
        """Makes the member take part in a tournament, or with 0 in the one that has not ended."""

    @call("tournament/leave")
    async def tournament_leave(self, who: Who, event_id: str) -> TournamentView:
        """Makes the member no longer take part, from today on."""

    @call("tournament/pick")
    async def tournament_pick(self, who: Who, event_id: str, member: str) -> TournamentView:
        """Takes a member into the caller's team, for captains."""

    @call("admin/sprint/start")
    async def sprint_start(
        self, who: Who, event_id: str, where: Where, questions: int, seconds: int, topic: str = ""
    ) -> SprintView:
        """Starts a sprint in the channel, with this number of questions and seconds for each."""

    @call("admin/sprint/plan")
    async def sprint_plan(self, who: Who, event_id: str, where: Where, sprint_plan: PlannedSprint) -> SprintView:
        """Plans a sprint in the channel, which is notified."""

    @call("admin/sprint/cancel")
    async def sprint_cancel(self, who: Who, event_id: str, where: Where, sprint: int = 0) -> SprintView:
        """Cancels a planned sprint of the workspace; without its id, the channel's next one."""

    @call("sprints")
    async def sprints(self, who: Who) -> Sprints:
        """Returns the sprint that runs or ran last, as the member sees it, and the planned ones."""

    @call("sprints/pulse")
    async def sprint_pulse(self, who: Who) -> SprintPulse:
        """Returns what changes while a sprint runs."""

    @call("admin/sprint/stop")
    async def sprint_stop(self, who: Who, event_id: str, where: Where) -> SprintView:
        """Stops the sprint in the channel: its current question is revealed, and the podium follows."""

    @call("admin/tournament/plan")
    async def tournament_plan(self, who: Who, event_id: str, where: Where, plan: TournamentPlan) -> TournamentView:
        """Opens a tournament for members to join, and announces it in the channel; audited."""

    @call("admin/tournament/captain")
    async def tournament_captain(self, who: Who, event_id: str, member: str) -> TournamentView:
        """Gives a member a team to pick, before the tournament starts; audited."""

    @call("admin/tournament/cancel")
    async def tournament_cancel(self, who: Who, event_id: str, tournament: int = 0) -> TournamentView:
        """Ends the workspace's tournament without a result, if it is the given one or none is given; audited."""

    @call("admin/review/similarity", repeatable=True)
    async def similar_answers(self, who: Who) -> SimilarAnswers:
        """Returns pairs of members whose wrong answers agree, and who answers very fast, for moderators."""
