"""Runs `/quiz-admin review` and answers the buttons and forms of moderators. `core.text` writes the replies."""

from __future__ import annotations

from typing import cast

from bot.core import actions
from bot.core.answers import text_in, word_in
from bot.core.cards import Content
from bot.core.command_parser import Handler, Typed
from bot.core.competition_commands import CheckChannel
from bot.core.events import Command, Event, Press, Submit
from bot.core.text import marking, review, similarity, suggestions
from service.client import ServiceClient
from service.wire import Settled


class ReviewCommands:
    """Reports, suggestions and open answers, for moderators."""

    def __init__(self, client: ServiceClient, check_channel: CheckChannel) -> None:
        self._client = client
        self._check_channel = check_channel
        self._handlers: dict[str, Handler] = {
            "list": self._list_reports,
            "show": self._show_report,
            "dismiss": self._settle,
            "fixed": self._settle,
            "suggestions": self._list_suggestions,
            "answers": self._list_open_answers,
            "credit": self._credit,
            "similarity": self._show_similarity,
            "here": self._notify,
            "me": self._notify,
        }

    async def run(self, event: Command, typed: Typed) -> Content:
        """Runs a parsed command. Raises what the client raises."""
        return await self._handlers[typed.spec.path[1]](event, typed)

    async def press(self, event: Press, action: actions.ReviewPress) -> Content:
        """Answers a button. Raises what the client raises."""
        match action:
            case actions.Review(report):
                return review.report_card(await self._client.report_view(event.who, int(report)))
            case actions.Settle(report, state):
                return review.settle_form(int(report), state)
            case actions.Credit(answer, percent):
                return await self._set_credit(event, int(answer), int(percent))
            case actions.ReviewSuggestion(suggestion):
                return await self._show_suggestion(event, int(suggestion))
            case actions.EditSuggestion(suggestion):
                view = await self._client.suggestion_view(event.who, int(suggestion))
                return suggestions.edit_form(view.suggestion)
            case actions.AcceptSuggestion(suggestion, seen):
                decided = await self._client.suggestion_accept(event.who, event.id, int(suggestion), seen)
                return suggestions.decided_card(decided)
            case actions.DeclineSuggestion(suggestion):
                return suggestions.decline_form(int(suggestion))

    async def submit(self, event: Submit, action: actions.ReviewSubmit) -> Content:
        """Answers a form. Raises what the client raises."""
        match action:
            case actions.Settle(report, state):
                return await self._settle_report(event, int(report), state, word_in(event, "reason"))
            case actions.EditSuggestion(suggestion):
                await self._client.suggestion_edit(event.who, event.id, int(suggestion), text_in(event, "text"))
                return await self._show_suggestion(event, int(suggestion))
            case actions.DeclineSuggestion(suggestion):
                reason = word_in(event, "reason")
                decided = await self._client.suggestion_decline(event.who, event.id, int(suggestion), reason)
                return suggestions.decided_card(decided)

    async def _list_reports(self, event: Command, typed: Typed) -> Content:
        return review.reports_card(await self._client.reports(event.who))

    async def _show_report(self, event: Command, typed: Typed) -> Content:
        return review.report_card(await self._client.report_view(event.who, typed.number("report")))

    async def _settle(self, event: Command, typed: Typed) -> Content:
        state = "fixed" if typed.spec.path[1] == "fixed" else "dismissed"
        if "reason" not in typed.values:
            return review.settle_form(typed.number("report"), state)
        return await self._settle_report(event, typed.number("report"), state, typed.text("reason"))

    async def _settle_report(self, event: Event, report: int, state: str, reason: str) -> Content:
        settled = cast(Settled, state)
        return review.settled_card(await self._client.report_settle(event.who, event.id, report, settled, reason))

    async def _list_suggestions(self, event: Command, typed: Typed) -> Content:
        if "suggestion" in typed.values:
            return await self._show_suggestion(event, typed.number("suggestion"))
        return suggestions.waiting_card(await self._client.suggestions(event.who))

    async def _show_suggestion(self, event: Event, suggestion: int) -> Content:
        return suggestions.suggestion_card(await self._client.suggestion_view(event.who, suggestion))

    async def _list_open_answers(self, event: Command, typed: Typed) -> Content:
        return marking.waiting_card(await self._client.open_answers(event.who))

    async def _credit(self, event: Command, typed: Typed) -> Content:
        return await self._set_credit(event, typed.number("answer"), typed.number("percent"))

    async def _set_credit(self, event: Event, answer: int, percent: int) -> Content:
        return marking.credited_card(await self._client.open_answer_credit(event.who, event.id, answer, percent))

    async def _show_similarity(self, event: Command, typed: Typed) -> Content:
        return similarity.similarity_card(await self._client.similar_answers(event.who))

    async def _notify(self, event: Command, typed: Typed) -> Content:
        if typed.spec.path[1] == "me":
            await self._client.review_me(event.who, event.id)
            return review.review_me_card()
        await self._client.review_here(event.who, event.id, event.where)
        return await self._check_channel(event.who, event.where, review.review_here_card(event.where))
