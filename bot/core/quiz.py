"""Turns an event into a reply: parses it, calls the service and passes the result to `core.text`.

No wording and no platform objects.
"""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from pydantic import ValidationError

from bot.core import actions
from bot.core.actions import BadAction, question_ref, split_ref
from bot.core.admin_commands import AdminCommands
from bot.core.answers import code_in, confidence, given_in, marks_in, programs_of
from bot.core.cards import Card, Content, Form, Reply
from bot.core.channel_access import ChannelAccess
from bot.core.command_parser import CommandError, read_command
from bot.core.command_spec import specs_of
from bot.core.competition_commands import TournamentCommands
from bot.core.duel_commands import DuelCommands
from bot.core.events import Added, Command, Event, Press, Sent, Submit, Visited
from bot.core.links import Links
from bot.core.member_commands import MemberCommands
from bot.core.metrics import event_answered
from bot.core.onboarding import WHOLE_WORKSPACE, Onboarding
from bot.core.text import (
    command_errors,
    marking,
    members,
    onboarding,
    questions,
    refusals,
    results,
    reveals,
)
from service import tracing
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import AnswerInput, AskForm, TodayView, invalid_input

_LOG = logging.getLogger(__name__)
_REF = re.compile(r"[rpsd][0-9]{1,18}")
"""A ref of a question, as the service writes it."""


class ButtonHandler:
    """Answers pressed buttons and submitted forms: those of questions itself, others by the commands they belong to.

    An action id holds everything needed, so old buttons work after a restart.
    """

    def __init__(
        self,
        client: ServiceClient,
        members: MemberCommands,
        admins: AdminCommands,
        onboarding: Onboarding,
        duels: DuelCommands,
    ) -> None:
        self._client = client
        self._members = members
        self._admins = admins
        self._onboarding = onboarding
        self._duels = duels
        self._tournaments = TournamentCommands(client)

    async def press(self, event: Press) -> Content:
        """Runs a button's action. Raises BadAction, CommandError and what the client raises."""
        action = actions.decode(event.action)
        if isinstance(action, actions.QuestionPress):
            return await self._press_question(event, action)
        if isinstance(action, actions.MemberPress):
            return await self._members.press(event, action)
        if isinstance(action, actions.DuelPress):
            return await self._duels.press(event, action)
        if isinstance(action, actions.TournamentPress):
            return await self._tournaments.press(event, action)
        if isinstance(action, actions.SetupPress):
            return await self._onboarding.press(event, action)
        if isinstance(action, actions.ReviewPress):
            return await self._admins.review.press(event, action)
        if isinstance(action, actions.AdminPress):
            return await self._admins.press(event, action)
        raise BadAction(event.action)

    async def submit(self, event: Submit) -> Content:
        """Runs a form's action. Raises as `press` does."""
        action = actions.decode(event.action)
        if isinstance(action, actions.QuestionSubmit):
            return await self._submit_question(event, action)
        if isinstance(action, actions.MemberSubmit):
            return await self._members.submit(event, action)
        if isinstance(action, actions.Challenge):
            return await self._duels.challenge(event)
        if isinstance(action, actions.SetupSubmit):
            return await self._onboarding.submit(event, action)
        if isinstance(action, actions.ReviewSubmit):
            return await self._admins.review.submit(event, action)
        if isinstance(action, actions.AdminSubmit):
            return await self._admins.submit(event, action)
        raise BadAction(event.action)

    async def _press_question(self, event: Press, action: actions.QuestionPress) -> Content:
        match action:
            case actions.Open(ref) | actions.OpenCard(ref) | actions.Fill(ref) | actions.Try(ref):
                bare, wanted = split_ref(ref)
                if question_ref(bare).kind == "duel":
                    return await self._duels.ask(event, bare)
                ask = await self._client.ask(event.who, event.where, bare)
                return questions.private_question(questions.carrying(ask, wanted), event.at)
            case actions.Choose(ref, option):
                return await self._answer(event, ref, AnswerInput(options=(option,)))
            case actions.Confide(ref, sure, option):
                return await self._answer(event, ref, AnswerInput(options=(option,), confidence=confidence(sure)))
            case actions.Hint(ref, how):
                return await self._hint(event, ref, take=how == "take")
            case actions.MyResult(ref):
                return reveals.result_card(await self._client.result(event.who, ref))
            case actions.GiveFeedback(ref, answer):
                return reveals.result_card(await self._client.feedback(event.who, event.id, ref, answer == "yes"))
            case actions.Compare() | actions.Mark() | actions.ShareAnswer():
                return await self._mark(event, action)
            case actions.PeerAnswers(ref, after):
                return marking.peer_card(await self._client.peer_answer(event.who, ref, int(after)))
            case actions.ConfirmMarks(ref, answer):
                await self._client.confirm_answer(event.who, event.id, int(answer))
                return marking.confirmed_card(ref, answer)

    async def _submit_question(self, event: Submit, action: actions.QuestionSubmit) -> Content:
        match action:
            case actions.Fill(ref):
                return await self._answer(event, ref, given_in(event))
            case actions.Try(ref):
                verdict = await self._client.try_code(event.who, split_ref(ref)[0], code_in(event))
                return results.tried_card(verdict, ref)
            case actions.Mark(ref):
                bare, wanted = split_ref(ref)
                view = await self._client.mark(event.who, event.id, bare, marks_in(event))
                return marking.marking_card(view, event.at, wanted)

    async def _hint(self, event: Press, ref: str, *, take: bool) -> Content:
        bare, wanted = split_ref(ref)
        hint = await self._client.hint(event.who, event.where, bare, take)
        ask = await self._client.ask(event.who, event.where, bare)
        return questions.hint_card(hint, questions.carrying(ask, wanted), event.at)

    async def _mark(self, event: Press, action: actions.Compare | actions.Mark | actions.ShareAnswer) -> Content:
        bare, wanted = split_ref(action.ref)
        if isinstance(action, actions.ShareAnswer):
            return marking.marking_card(await self._client.share_answer(event.who, event.id, bare), event.at, wanted)
        view = await self._client.marking(event.who, bare)
        if isinstance(action, actions.Mark) and view.marks is None:
            return marking.marking_form(view, wanted)
        return marking.marking_card(view, event.at, wanted)

    async def _answer(self, event: Press | Submit, ref: str, given: AnswerInput) -> Content:
        bare, wanted = split_ref(ref)
        if question_ref(bare).kind == "duel":
            return await self._duels.answer(event, bare, given)
        given = given.model_copy(update={"practicing": wanted.trail or None})
        receipt = await self._client.answer(event.who, event.where, event.id, bare, given, event.at)
        if receipt.status in ("judged", "late"):
            return results.practiced_card(receipt, event.at, wanted)
        ask = await self._ask_again(event, bare) if given.options is not None else None
        return questions.recorded_card(receipt, ask, event.at, wanted)

    async def _ask_again(self, event: Event, ref: str) -> AskForm | None:
        """Returns the question again, with the member's letters; None if that fails, because the answer is already
        saved."""
        try:
            return await self._client.ask(event.who, event.where, ref)
        except (ServiceRefused, ServiceUnavailable):
            return None


class MessageHandler:
    """Answers messages with code."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def answer(self, event: Sent) -> Card:
        """Submits the code of a message, or says what to do instead. Raises what the client raises."""
        if len(event.files) > 1:
            return onboarding.too_many_files_card(tuple(name for name, _ in event.files))
        programs = tuple(code for _, code in event.files if code.strip()) or programs_of(event.text)
        if len(programs) > 1:
            return onboarding.too_many_programs_card(len(programs))
        today = await self._open_to(event)
        if programs:
            return await self._submit_code(event, programs[0], today)
        return questions.today_card(today, event.at) if today.forms else members.help_card(specs_of("quiz"))

    async def _open_to(self, event: Sent) -> TodayView:
        """Returns what is open in the message's channel; for a direct message, in the workspace."""
        here = await self._client.today(event.who, event.where)
        return here if here.forms or here.next_at else await self._client.today(event.who, WHOLE_WORKSPACE)

    async def _submit_code(self, event: Sent, code: str, today: TodayView) -> Card:
        ask = _asks_for_code(today)
        if ask is None:
            return onboarding.no_place_for_code_card(len(today.forms))
        receipt = await self._client.answer(event.who, event.where, event.id, ask.ref, AnswerInput(code=code), event.at)
        if receipt.status == "late":
            return results.practiced_card(receipt, event.at)
        return onboarding.code_submitted_card(questions.recorded_card(receipt, None, event.at), ask)


def _asks_for_code(today: TodayView) -> AskForm | None:
    """Returns the newest open code question, unanswered ones first."""
    forms = [ask for ask in today.forms if ask.question.kind == "code"]
    unanswered = [ask for ask in forms if ask.given is None]
    return next(reversed(unanswered or forms), None)


class Quiz:
    """Answers every event of every platform. Stateless, so any process can answer any click.

    With `links`, code questions link to the web editor. With `access`, the setup checks that the bot can post,
    and members who have never used the quiz can be challenged.
    """

    def __init__(self, client: ServiceClient, links: Links | None = None, access: ChannelAccess | None = None) -> None:
        self._links = links
        challenges = DuelCommands(client, access)
        self._members = MemberCommands(client, challenges)
        self._onboarding = Onboarding(client, access)
        self._admins = AdminCommands(client, self._onboarding)
        self._messages = MessageHandler(client)
        self._buttons = ButtonHandler(client, self._members, self._admins, self._onboarding, challenges)

    async def handle(self, event: Event) -> Reply:
        """Answers an event with a reply for the member who caused it. Never raises."""
        begun = time.monotonic()
        kind = type(event).__name__
        spanned = tracing.span("event", first=True, kind=kind, platform=event.who.platform)
        with tracing.correlate(event.id), spanned as noted:
            try:
                reply, outcome = await self._answer(event), "answered"
            except Exception as error:  # the member gets an answer, the log gets the cause
                # An error replaces no card, so that the member's input stays visible.
                reply, outcome = Reply(_trouble(event, error)), type(error).__name__
            ms = round(1000 * (time.monotonic() - begun), 1)
            noted["outcome"] = outcome
            tracing.log_event(_LOG, "event answered", **_about(event), status=outcome, ms=ms)
        event_answered(event.who.platform, kind, outcome, ms)
        return reply

    async def _answer(self, event: Event) -> Reply:
        if isinstance(event, Added):
            greeting, first = await self._onboarding.greet(event)
            return Reply(greeting, droppable=not first)
        content = await self._content_for(event)
        if self._links is not None:
            content = self._links.with_editor_link(content, event)
        return Reply(content, replaces=_is_answer(event) and isinstance(content, Card))

    async def _content_for(self, event: Command | Press | Submit | Sent | Visited) -> Card | Form:
        match event:
            case Command():
                typed = read_command(event.name, event.text)
                commands = self._admins if typed.spec.admin else self._members
                return await commands.run(event, typed)
            case Press():
                return await self._buttons.press(event)
            case Submit():
                return await self._buttons.submit(event)
            case Sent():
                return await self._messages.answer(event)
            case Visited():
                return await self._onboarding.show_home(event)


def _trouble(event: Event, error: Exception) -> Card:
    """Returns the card for an event that could not be answered."""
    match error:
        case CommandError():
            return members.refused_card(str(error), _question_of(event), error.title)
        case BadAction():
            title, text = command_errors.OUT_OF_DATE
            return members.refused_card(text, title=title)
        case ServiceRefused():
            title, text = refusals.refusal_words(error.refusal)
            return members.refused_card(text, _question_of(event), title)
        case ServiceUnavailable():
            _LOG.warning("%s %s: %s", type(event).__name__, event.id, error)
            return members.unavailable_card()
        case ValidationError():
            # Input beyond the limits of the service's API.
            title, text = refusals.refusal_words(invalid_input(error.errors()))
            return members.refused_card(text, _question_of(event), title)
        case _:
            _LOG.error("%s %s could not be answered", type(event).__name__, event.id, exc_info=error)
            return members.fault_card()


def _is_answer(event: Event) -> bool:
    """Returns whether the reply replaces the card the event came from. An editor stays when its examples are run."""
    if isinstance(event, Submit):
        return not isinstance(actions.decode(event.action), actions.Try)
    return isinstance(event, Press)


def _about(event: Event) -> dict[str, Any]:
    """Returns the log fields of an event: nothing that a person wrote or chose."""
    who = event.who
    member = tracing.pseudonym(who.platform, who.workspace, who.member)
    content = {"kind": type(event).__name__, "platform": who.platform, "workspace": who.workspace, "member": member}
    return {**content, "ref": _ref_of(event)}


def _ref_of(event: Event) -> str:
    """Returns the ref of the question that a button or form is about; empty if there is none."""
    if not isinstance(event, Press | Submit):
        return ""
    try:
        ref = str(getattr(actions.decode(event.action), "ref", "")).partition(",")[0]
    except BadAction:
        return ""
    # The action comes from the client, so log it only if it looks like a ref of the service.
    return ref if _REF.fullmatch(ref) else ""


def _question_of(event: Event) -> str:
    """Returns the ref of a form's question, so that the error can offer to open it again."""
    if isinstance(event, Submit):
        try:
            action = actions.decode(event.action)
        except BadAction:
            return ""
        if isinstance(action, actions.Fill | actions.Try):
            return action.ref
    return ""
