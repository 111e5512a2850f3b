"""Numbers that a page promises are those of the code: each sentence is written here with the code's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from bot.core.links import LINK_LIFETIME
from bot.settings import OidcSettings
from bot.web import sign_in
from sandbox.host import compiler
from sandbox.judging.comparison import MIN_DRAWS
from service import app, concurrency, healthcheck
from service.banks import item_statistics, moderation, proof_checks, proving, suggestions
from service.competitions import duels, similarity, sprints, tournaments
from service.domain import duels as duel_rules
from service.domain import item_statistics as item_rules
from service.domain import mastery, measurements, selection
from service.domain import similarity as similarity_rules
from service.domain import tournaments as tournament_rules
from service.domain.scoring import ScoringPolicy, describe_rules
from service.domain.sprints import SprintPolicy
from service.ops import operations
from service.people import linking, members, web_chat
from service.rounds import (
    calibration,
    contestant,
    delivery,
    digests,
    jobs,
    leaderboard,
    measuring,
    notifications,
    planning,
    posting,
    practice,
    rounds,
)
from service.rounds import mastery as team_mastery
from service.store import bots, claims, outbox, retention, session, variants
from tests.docs.pages import DOCS, prose_of

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
FREQUENT = {20: "twenty", 100: "hundred"}
UNITS = {
    timedelta(minutes=1): "minute",
    timedelta(minutes=15): "quarter of an hour",
    timedelta(hours=1): "hour",
    timedelta(days=1): "day",
    timedelta(weeks=1): "week",
    timedelta(days=365): "year",
}


def say(number: float) -> str:
    """Returns a whole number as the pages write it in a sentence."""
    assert number == int(number), number
    return WORDS[int(number)] if number < len(WORDS) else FREQUENT.get(int(number), f"{number:,.0f}")


def minutes(time: timedelta) -> float:
    return time / timedelta(minutes=1)


def hours(time: timedelta) -> float:
    return time / timedelta(hours=1)


def percent(share: float) -> str:
    return f"{share:.0%}"


def commands() -> Iterator[str]:
    """Sentences of docs/commands.md."""
    lead, part = UNITS[notifications.LEAD], {4: "quarter"}[notifications.LEAST_PART]
    short = say(hours(notifications.LEAD * notifications.LEAST_PART))
    yield f"an {lead} before it closes (in a round shorter than {short} hours, in its last {part})"
    yield f"have a streak of {say(notifications.STREAK_AT_RISK)} rounds or more"
    pace = outbox.PACE_INTERVAL.total_seconds()
    yield f"at most {say(outbox.PACE_SIZE)} every {say(pace)} seconds per chat"
    yield f"in sessions of {say(practice.SESSION_LENGTH)}"
    yield f"the last {members.WEEKS} weeks day by day"
    yield f"A member can send {say(moderation.MAX_PER_DAY)} reports within a day"
    yield f"A member can have {say(suggestions.MAX_WAITING)} suggestions waiting"
    yield f"A list shows {say(item_statistics.MOST_LISTED)} and says how many more there are"
    yield f"any; {item_rules.MIN_ANSWERS} before anything is concluded from it"
    others = say(item_rules.MIN_OTHER_ANSWERS)
    yield f"{item_rules.MIN_DISCRIMINATION_ANSWERS}, by members who answered {others} other questions"
    yield f"1; {item_rules.MIN_RATINGS} before anything is concluded from it"
    yield f"Rounds of this workspace that closed in the last {item_statistics.PERIOD.days} days count"
    yield f"It costs up to {ScoringPolicy().hint_cost} points"
    sure = describe_rules().confidence
    right, wrong = ([sure[said][at] for said in ("guess", "think", "sure")] for at in (0, 1))
    yield "Right, these add {}, {} and {} points; wrong, {}, −{} and −{}".format(*right, *map(abs, wrong))
    widest = f"{100 * mastery.WIDEST:.0f}"
    yield f"from {say(mastery.LEAST_ANSWERS)} answers on, once the range is narrower than {widest} points"
    least = say(team_mastery.LEAST_MEMBERS)
    questions = say(team_mastery.LEAST_QUESTIONS)
    yield f"A team needs {least} members, and a topic {questions} questions that {least} members answered"
    yield f"in which the member is weak (below {percent(mastery.WEAK)})"
    yield f"of a difficulty that this member gets right in about {percent(selection.TARGET_SHARE)}"
    length, pause = say(practice.SESSION_LENGTH).capitalize(), say(minutes(practice.SESSION_PAUSE))
    yield f"{length} answers without a pause of {pause} minutes are a session"
    yield f"On Monday at {say(digests.SENT_AT.hour)}, in the time zone of the oldest schedule"
    needs = say(digests.LEAST_ANSWERS)
    yield f"A question needs {needs} judged answers to be named, a topic {say(digests.LEAST_TOPIC_ANSWERS)}"
    yield f"the weakest topics of {say(digests.TOPIC_WEEKS)} weeks"
    yield f"Questions are planned about {say(round(planning.AHEAD.days / 31))} months ahead"


def competitions() -> Iterator[str]:
    """Sentences of docs/competitions.md."""
    yield f"The first question comes {sprints.LEAD.seconds} seconds later"
    yield f"at most every {say(sprints.EDIT_PACE.seconds)} seconds"
    yield f"The next question follows {say(sprints.PAUSE.seconds)} seconds later"
    yield f"At most {say(sprints.MOST_PLANNED)} can be planned, up to {sprints.FARTHEST.days} days ahead"
    yield f"If nothing can begin it within {minutes(sprints.LATEST_START):.0f} minutes"
    points = SprintPolicy()
    yield f"A right answer earns {points.right} points, and up to {points.speed} more for speed"
    yield f"all of them within {say(points.thinking_s)} seconds"
    yield f"If the chat refuses the message for {say(minutes(sprints.POST_TIMEOUT))} minutes, the sprint ends"
    yield f"A challenge expires after {hours(duel_rules.RESPOND_WITHIN):.0f} hours"
    yield f"{say(duels.MAX_WAITING).capitalize()} challenges of a member can wait at a time"
    yield f"{say(duel_rules.QUESTIONS)} choice or value questions are drawn once for both"
    yield f"Each member answers when they like, within {hours(duel_rules.PLAY_WITHIN):.0f} hours"
    yield f"A question is open for {say(duel_rules.QUESTION_SECONDS / 60)} minutes from when the member first sees it"
    yield f"arrives up to {say(duels.ON_ITS_WAY.seconds)} seconds late"
    yield f"Everyone starts at {duel_rules.Rating().shown}"
    yield f"It waits up to an {UNITS[tournaments.JUDGE_WITHIN]} for verdicts on code"
    yield f"The better day wins {tournament_rules.WIN} table points, a tie is {tournament_rules.DRAW} for each"
    yield f"Strength is the points of the last {say(tournament_rules.RECENT_DAYS / 7)} weeks"
    yield f"{say(measuring.RUNS)} runs of each answer and of the reference"
    yield f"contains the true median at {percent(measurements.coverage(measuring.RUNS))}"
    yield f"It takes the first {measuring.MAX_ANSWERS} answers"
    yield f"{say(minutes(contestant.AHEAD)).capitalize()} minutes before a slot"
    yield f"At most {say(jobs.ASKED_AT_ONCE)} questions are asked at once by all workers"
    yield f"every answer within {ScoringPolicy().thinking_s:.0f} seconds of the question earns all of it"
    yield f"compares members by the choice questions of the last {similarity.PERIOD.days} days"
    yield f"any pair at all is listed in at most {percent(similarity_rules.LEVEL)} of looks"
    rules = similarity_rules
    yield f"Pairs are compared if both answered {rules.LEAST_SHARED} questions, {rules.LEAST_WRONG} of them wrongly"
    yield f"with at least {say(rules.LEAST_OTHERS)} wrong answers of others"
    yield f"among the {rules.MOST_MEMBERS} members who answered most"
    yield f"names members with {say(similarity.LEAST_QUICK)} right answers or more within the thinking time"
    fewest = say(variants.FEWEST_FOR_ALL)
    yield f"A family has up to {proving.STORED_VARIANTS}; one with fewer than {fewest} asks everyone the same"


def architecture() -> Iterator[str]:
    """Sentences of docs/architecture.md."""
    yield f"takes due schedules in batches of {posting.BATCH_SIZE}"
    yield f"A claim looks at the {say(claims.CONSIDERED)} messages that have been ready for longest"
    yield f"edited, at most every {say(delivery.UPDATE_INTERVAL.seconds)} seconds while it is open"
    due, apart = say(minutes(rounds.CALIBRATION_DELAY)), say(hours(calibration.LEAST_AGE))
    yield f"makes a calibration of its workspace due in {due} minutes, at most every {apart} hours"
    period = UNITS[calibration.PERIOD]
    yield f"at most {calibration.MAX_ANSWERS:,} of the last {period}, of {calibration.MAX_MEMBERS:,} members"
    away = 100 * selection.TOLERATED_MISS
    yield f"more than {away:.0f} points from what would bring the latest rounds to {percent(selection.TARGET_SHARE)}"


def operating() -> Iterator[str]:
    """Sentences of docs/operating.md."""
    yield f"killed by its health check after {say(healthcheck.MAX_HANGS)} failed checks"
    yield f"A body that is not complete after a {UNITS[timedelta(seconds=concurrency.BODY_SECONDS)]} is refused"
    yield f"the database's clock, read every {say(app.MEASURE_SECONDS)} seconds"
    every = say(delivery.REFUSED_RETRY_SECONDS / 60)
    yield f"or tried every {every} minutes until the schedule's catch-up time ends"
    yield f"in batches of {retention.BATCH:,}, so that no table is locked for long"
    yield f"the errors of the last {UNITS[operations.ERRORS_BACK]}"


def security() -> Iterator[str]:
    """Sentences of docs/security.md."""
    code = f"{linking.LENGTH} of {len(linking.ALPHABET)} letters, {minutes(linking.GOOD_FOR):.0f} minutes"
    yield f"{code}, {linking.GUESSES} attempts per workspace, single use"
    yield f"{web_chat.JOINS.most} people may join within {say(minutes(web_chat.JOINS.period))} minutes"
    yield f"a member may write {web_chat.MESSAGES.most} messages a {UNITS[web_chat.MESSAGES.period]}"
    own, operators = UNITS[sign_in.LIFETIME], UNITS[web_chat.OPERATORS_LINK]
    yield f"as good as a password for its {own}, or its {operators} if the operator made it"
    days = OidcSettings.model_fields["session_days"].default
    yield f"until it is unused for a {UNITS[web_chat.SESSION_LIFETIME]} ({days} days from an OpenID sign-in)"


def settings() -> Iterator[str]:
    """Sentences of docs/settings.md."""
    yield f"lasts until the round closes or one {UNITS[LINK_LIFETIME]}, whichever is sooner"


def slack() -> Iterator[str]:
    """Sentences of docs/slack.md."""
    yield f"has not called for {say(minutes(bots.SILENCE))} minutes"


def discord() -> Iterator[str]:
    """Sentences of docs/discord.md."""
    yield f"the role is given as soon as the bot may, within a {UNITS[leaderboard.ROLE_TIMEOUT]}"


def scaling() -> Iterator[str]:
    """Sentences of docs/scaling.md."""
    yield f"({session.MOST_CONNECTIONS} of its pool, {session.MOST_DIRECT_CONNECTIONS} for answers"


def sandbox() -> Iterator[str]:
    """Sentences of docs/sandbox.md."""
    yield f"ends {say(compiler.IDLE_SECONDS / 60)} minutes after the last"


def writing_questions() -> Iterator[str]:
    """Sentences of docs/writing-questions.md."""
    draws = say(proof_checks.DRAWS)
    yield f"so each wrong solution is judged by {draws} draws"
    yield f"judges wrong solutions by `N` draws of the cases instead of {draws}"
    yield f"with one independent draw per row: at least {MIN_DRAWS} rows"


PAGES = (
    architecture,
    commands,
    competitions,
    discord,
    operating,
    sandbox,
    scaling,
    security,
    settings,
    slack,
    writing_questions,
)


@pytest.mark.parametrize("sentences", PAGES)
def test_a_page_has_the_numbers_of_the_code(sentences: Callable[[], Iterator[str]]) -> None:
    page = DOCS / f"{sentences.__name__.replace('_', '-')}.md"
    text = " ".join(prose_of(page).replace("**", "").split())
    assert [one for one in sentences() if one not in text] == []
