"""The page of boards: a leaderboard by period, topic and contest, with the reader's own place."""

from __future__ import annotations

import asyncio
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import boards as text
from bot.core.text.boards import BoardChoice
from bot.core.text.members import rules_card
from bot.core.text.refusals import plain_refusal
from bot.core.text.web_problems import NO_SUCH_BOARD
from bot.web.chat import WHERE, who_of
from bot.web.frame import MemberFrame
from bot.web.security import RequestProblem, cleaned, refusals_as_pages
from service.client import ServiceRefused
from service.wire import Board, Contest, Period, Who

ROWS = 20
"""Rows from the top of the board; the reader's neighborhood is added."""
LONGEST_TOPIC = 200


class BoardPage:
    """The route of the page."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (Route("/m/{member}/board", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the board that the query names."""
        person = self._cookies.person(request)
        choice, who = _asked_for(request), who_of(person)
        with refusals_as_pages():
            topics, rules = await asyncio.gather(self._client.topics(who), self._client.rules(who))
            board = await self._board(who, choice)
        return self._frame.show(
            person,
            "board.html",
            "board",
            **_variables(board),
            choice=choice,
            choices=text.choices(choice),
            query=_query,
            topics=[one.topic for one in topics if one.topic],
            rules=rules_card(rules).blocks,
            text=text,
            now=self._frame.clock(),
        )

    async def _board(self, who: Who, choice: BoardChoice) -> Board | tuple[str, str]:
        """Returns the board; or why there is none, in words, such as that no season runs."""
        where = WHERE if choice.scope == "channel" else None
        try:
            return await self._client.board(who, where, choice.period, choice.topic, ROWS, choice.contest)
        except ServiceRefused as refused:
            return plain_refusal(refused.refusal)


def _variables(board: Board | tuple[str, str]) -> dict[str, Any]:
    found = isinstance(board, Board)
    return {"board": board if found else None, "refusal": None if found else board}


def _asked_for(request: Request) -> BoardChoice:
    """Returns the board that the query names; the channel's week where it names none. Raises RequestProblem."""
    query, usual = request.query_params, BoardChoice()
    period, contest = query.get("period", usual.period), query.get("contest", usual.contest)
    scope, topic = query.get("scope", usual.scope), cleaned(query.get("topic", ""))
    known = period in get_args(Period) and contest in get_args(Contest) and scope in ("channel", "workspace")
    if not known or len(topic) > LONGEST_TOPIC:
        raise RequestProblem(422, *NO_SUCH_BOARD)
    return text.suited(BoardChoice(period, contest, scope, topic))  # type: ignore[arg-type]


def _query(choice: BoardChoice) -> str:
    """Returns the query that asks for the board, without what is usual."""
    usual = BoardChoice()
    names = ("period", "contest", "scope", "topic")
    asked = {name: getattr(choice, name) for name in names if getattr(choice, name) != getattr(usual, name)}
    return f"?{urlencode(asked)}" if asked else "?"
