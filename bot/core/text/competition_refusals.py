"""Refusals of duels, sprints and tournaments: a title that names the problem, then the cause and the fix."""

from __future__ import annotations

from typing import Final

from bot.core.text.words import Words, plural
from service.wire import DuelRefused, SprintRefused, TournamentRefused

_DUELS: Final[dict[str, Words]] = {
    "yourself": ("Choose someone else", "A duel takes two: challenge another member."),
    "left": ("Not possible", "This member left the quiz."),
    "open": ("Duel open", "The two of you have a duel that has not ended. `/quiz duel` shows it."),
    "too many": (
        "Too many challenges",
        "{count} of your challenges wait for a response. Withdraw one: `/quiz duel` lists them.",
    ),
    "too few questions": (
        "Too few questions",
        "A duel needs {count} choice or value questions that are not open now. Name no topic or another one, or ask an "
        "admin to import more.",
    ),
    "not yours": (
        "Not allowed",
        "Only the member who is challenged can respond. `/quiz duel @member` starts your own.",
    ),
    "own challenge": ("Not allowed", "The other member accepts or declines your challenge."),
    "accepted": ("Already accepted", "This duel has begun. `/quiz duel` shows it."),
    "ended": ("Duel ended", "This duel has ended. `/quiz duel` shows your results."),
    "not over": ("Duel not over", "Ask for a rematch when this duel is over."),
}

_SPRINTS: Final[dict[str, Words]] = {
    "running": (
        "Sprint running",
        "A sprint is running. Wait for its podium, or stop it with `/quiz-admin sprint stop`.",
    ),
    "no questions": (
        "No question fits",
        "A sprint asks choices and values, and no such question fits. Choose another topic, or import questions with "
        "`/quiz-admin bank import`.",
    ),
    "not running": (
        "No sprint",
        "No sprint is running in this channel. Start one with `/quiz-admin sprint start`.",
    ),
    "closed": (
        "Time is up",
        "Time is up for this question. Your earlier answer, if any, counts. Get ready for the next one.",
    ),
    "past": ("Not planned", "That time has passed. Choose a later one, or leave it out to start the sprint now."),
    "far": ("Not planned", "A sprint can be planned for the next 60 days. Choose an earlier day."),
    "many": (
        "Not planned",
        "Ten sprints are planned already. Cancel one with `/quiz-admin sprint cancel`, or wait for the next.",
    ),
    "not planned": (
        "No sprint planned",
        "No sprint is planned in this channel. Plan one with `/quiz-admin sprint start at:18:00`.",
    ),
    "not begun": ("Not open yet", "The time for this question begins in a moment. Press **Answer** again."),
}

_TOURNAMENTS: Final[dict[str, Words]] = {
    "live": (
        "One at a time",
        "Another tournament has not ended yet. Wait for its podium, or end it with `/quiz-admin tournament cancel`.",
    ),
    "none": (
        "No tournament",
        "No tournament is planned or running. An admin plans one with `/quiz-admin tournament new`.",
    ),
    "another": ("Nothing was canceled", "That tournament has ended, and another is planned or running."),
    "schedules": (
        "No schedule",
        "A tournament counts the daily rounds of schedules, and there is no such schedule here. "
        "`/quiz-admin schedule list` shows their numbers: `schedules:1,2`.",
    ),
    "past day": ("Wrong day", "The first day is after today, so that members can join, and within a year."),
    "few days": (
        "Too few days",
        "A bracket of that many teams needs {days} or more. Add days, choose fewer teams with `count:`, or a table "
        "with `form:table`.",
    ),
    "one chat": (
        "One chat",
        "Teams of chats need two linked chats. Link another one with `/quiz-admin link`, or make teams with "
        "`teams:random`.",
    ),
    "closed": ("Too late to join", "This tournament no longer takes new members. The next one will be announced here."),
    "not joined": ("Not in it", "You are not in the tournament, so there is nothing to leave."),
    "no captains": ("Not possible", "Captains do not pick the teams in this tournament."),
    "not captain": ("Not allowed", "Only captains pick members. `/quiz tournament` shows who they are."),
    "not your turn": ("Not your turn", "A team with fewer members picks first. Try again when it has."),
    "not free": (
        "Not free",
        "This member is in a team already, or has not joined. `/quiz tournament` lists those who can be picked.",
    ),
    "started": ("Already started", "The teams are made, and the tournament is running."),
}


def competition_refusal(refusal: DuelRefused | SprintRefused | TournamentRefused) -> Words:
    """Returns title and text of a refusal."""
    if isinstance(refusal, SprintRefused):
        return _SPRINTS[refusal.why]
    if isinstance(refusal, TournamentRefused):
        title, text = _TOURNAMENTS[refusal.why]
        return title, text.format(days=plural(refusal.count, "day"))
    title, text = _DUELS[refusal.why]
    return title, text.format(count=refusal.count)
