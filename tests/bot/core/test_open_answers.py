"""Ten pairs of answers to shipped open questions, right in other words and wrong with the right words, and what each
member sees: nothing tells them apart until people have marked them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

import pytest

from bot.console.render import card_text
from bot.core.quiz import Quiz
from questions import Question
from service.app import Service
from service.banks.imports import import_bank
from service.client import ServiceClient
from service.wire import Where, Who
from tests.bot.conftest import Room
from tests.conftest import Clock, MakeWho
from tests.questions.shipped import read_shipped_bank
from tests.service.scenes import reading

JUDGED = re.compile(
    r"answered right|first with the right|partly right|not this time|right!|your answer is (?:right|wrong)|wrong:",
    re.IGNORECASE,
)
"""Words with which an answer of another kind is called right or wrong."""


@dataclass(frozen=True)
class Pair:
    """Two answers to a shipped open question."""

    question: str
    right: str
    """Right, in words that the key points do not use."""
    wrong: str
    """Wrong, with the words of the key points."""


PAIRS = (
    Pair(
        "which-of-them-copied",
        "Often you get an alias of the same bytes, and only when no set of steps through them can express it do you "
        "pay for new bytes. Compare addresses to see which happened.",
        "`reshape` always returns a copy: contiguous input is copied, and after a transpose or column slice it is a "
        "view. Writing into the result never reaches the original; `data_ptr()` and `view` cannot find out.",
    ),
    Pair(
        "small-batches-big-step",
        "Zero once, sum up, update once. Each piece weighs as much as the examples it has, and the cap on the "
        "length comes last. Layers that look at their neighbors never agree.",
        "Clear `.grad` after each micro-batch, scale no mean loss, clip the accumulated gradient after the step; with "
        "unequal micro-batches divide by their number. BatchNorm sees the full batch.",
    ),
    Pair(
        "what-stays-float32",
        "Whatever tiny changes are added to, and whatever sums many terms or exponentials. Only the narrow half type "
        "needs its slopes blown up so they survive; the brain type does not.",
        "Master weights and optimizer state are kept in bfloat16; softmax, losses and long sums in float16. bfloat16 "
        "needs a scaler, float16 has the range of float32, and gradients are clipped before you unscale them.",
    ),
    Pair(
        "where-the-memory-goes",
        "What is kept for going backwards is usually the largest part: send fewer examples at a time, or redo the "
        "work. The moving means of the optimizer take twice as much as what it updates.",
        "Adam's state costs no numbers per parameter, saved activations shrink with the batch and the depth, "
        "activation checkpointing lowers weights and gradients, `no_grad` keeps activations, and `empty_cache` frees "
        "what live tensors hold.",
    ),
    Pair(
        "resume-exactly",
        "Everything that remembers: momentum and its counter, where the schedule was, the dice, and how far through "
        "the shuffled examples you were. Otherwise the warm-up runs again and other examples come.",
        "Nothing: optimizer state, Adam's running means, the step count, scheduler state and random generator states "
        "are in `model.state_dict()`; the learning rate and dropout cannot differ, and BatchNorm starts over.",
    ),
    Pair(
        "hunting-a-nan",
        "Go back to just before and play that one moment again. Then walk forward and stop at the earliest infinite "
        "value, whatever produced it: dividing by nothing, or a row with everything hidden.",
        "Clipping by norm repairs NaN. `torch.where` stops NaN gradients from the branch not taken, `detect_anomaly` "
        "names the optimizer, and a fully masked softmax, log of zero or float16 overflow is never behind it.",
    ),
    Pair(
        "loss-that-stays",
        "Is it as bad as guessing at the start? Can it memorize a handful? Does anything move when you update? What "
        "do the pictures and their targets look like where they go in? Only then try other speeds.",
        "The first loss must be far from log C for C classes; a model that can overfit one small batch is broken; "
        "gradients should be zero and parameters unchanged after a step; samples, labels, logits, shapes and the "
        "learning rate do not matter.",
    ),
    Pair(
        "why-not-batch-norm",
        "What one word becomes must not depend on who else is being served, nor on words that come later, and it "
        "should be computed identically when deployed.",
        "LayerNorm takes its statistics over the rest of the batch, needs running statistics at inference and large "
        "batches, lets padding of sequences enter, leaks future tokens and needs synchronization between devices.",
    ),
    Pair(
        "trusting-your-own-backward",
        "Nudge every entry with enough digits and compare slopes, feed something uneven from above, try awkward "
        "sizes, and set it beside what the library derives by itself.",
        "`gradcheck` in float16 on large inputs with an incoming gradient of all ones, contiguous square shapes only, "
        "no comparison with the plain PyTorch formula, and `save_for_backward` so that in-place changes never raise.",
    ),
    Pair(
        "reward-up-quality-down",
        "It learned to please the judge and not us. See how far it drifted from where it began, and whether it just "
        "talks more. Hold it closer, stop sooner, and teach the judge from what it writes now.",
        "The reward model is right and people err: the policy never exploits errors of the reward model. Lower the KL "
        "penalty, train longer, ignore the length of the answers and the KL divergence from the reference, and never "
        "retrain the reward model.",
    ),
)


@cache
def shipped(id_: str) -> Question:
    return next(question for question in read_shipped_bank().questions if question.id == id_)


def overlap(question: Question, text: str) -> int:
    """Returns how many words of the key points occur in a text."""
    wanted = set(re.findall(r"[\w.]{4,}", " ".join(question.key_points).lower()))
    return len(wanted & set(re.findall(r"[\w.]{4,}", text.lower())))


@dataclass
class Seen:
    """What the author of the right answer, the author of the wrong one, and the channel saw, by moment."""

    moments: dict[str, tuple[str, str]] = field(default_factory=dict)
    channel: dict[str, str] = field(default_factory=dict)

    def add(self, moment: str, right: str, wrong: str) -> None:
        self.moments[moment] = right, wrong


async def life(room: Room, ann: Who, bob: Who, pair: Pair) -> Seen:
    """Plays a round from its post to the credit of both answers: Ann's is right, Bob's is wrong."""
    seen = Seen()
    question = shipped(pair.question)
    async with room.service.sessions.begin() as session:
        await import_bank(session, reading(question), None, room.clock(), True)
    await room.schedules(room.where)
    await room.carries()
    post = room.wall.last("Question for ")
    receipts = []
    for who, text in ((ann, pair.right), (bob, pair.wrong)):
        room.sees(who, post)
        await room.presses(who, "Answer")
        receipts.append(await room.fills(who, text=text))
    seen.add("before the close", *receipts)
    seen.add("before the close, asking for the key", *[await explained(room, who, pair) for who in (ann, bob)])
    reveal = await room.closes()
    seen.channel = {
        "the question's message": card_text(room.wall.edits[-1][1]),
        "the result in the channel": card_text(next(card for target, card in room.wall.posts if target.broadcast)),
        "the reveal": card_text(reveal),
    }
    for who in (ann, bob):
        room.sees(who, reveal)
    seen.add("at the reveal, My result", *[await room.presses(who, "My result") for who in (ann, bob)])
    seen.add("beside the model answer", *[await room.presses(who, "Mark my answer") for who in (ann, bob)])
    for who in (ann, bob):
        await room.presses(who, "Mark my answer")
    covered = tuple(str(point) for point in range(len(question.key_points)))
    seen.add("after self-marking", await room.fills(ann, points=covered), await room.fills(bob, points=("none",)))
    await room.presses(ann, "Ask for confirmation")
    room.sees(bob, reveal)
    read = await room.presses(bob, "Confirm others' answers")
    seen.add("asked to confirm (Bob reads Ann's)", "", read)
    await room.presses(bob, "Confirm")
    await room.types(room.boss, "/quiz-admin review credit 2 0")
    await room.carries()
    notes = [card_text(room.wall.last(f"Your open answer was {how}")) for how in ("confirmed", "reviewed")]
    seen.add("after a peer confirmed, and a moderator reviewed", *notes)
    for who in (ann, bob):
        room.sees(who, reveal)
    seen.add("My result, then", *[await room.presses(who, "My result") for who in (ann, bob)])
    seen.add("the explanation, then", *[await explained(room, who, pair) for who in (ann, bob)])
    return seen


async def explained(room: Room, who: Who, pair: Pair) -> str:
    return await room.types(who, f"/quiz explain {pair.question}")


@pytest.fixture
async def room(client: ServiceClient, service: Service, clock: Clock, who: MakeWho, where: Where) -> Room:
    """A channel without a question yet."""
    boss = who("Boss", admin=True)
    await client.join(boss, where)
    return Room(Quiz(client), service.clock, where, client=client, service=service, boss=boss, moving=clock)


@pytest.fixture
def ann(who: MakeWho) -> Who:
    return who("Ann")


@pytest.fixture
def bob(who: MakeWho) -> Who:
    return who("Bob")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.question)
async def test_nothing_tells_a_right_answer_from_a_wrong_one_until_people_have(
    room: Room, ann: Who, bob: Who, pair: Pair
) -> None:
    question = shipped(pair.question)
    assert overlap(question, pair.wrong) > 2 * overlap(question, pair.right), "words would call the wrong one right"
    seen = await life(room, ann, bob, pair)
    for moment in tuple(seen.moments)[:4]:
        right, wrong = seen.moments[moment]
        assert _without(right, pair.right) == _without(wrong, pair.wrong), moment
        assert not JUDGED.search(_without(right, pair.right)), moment
    for where, said in seen.channel.items():
        assert "2 members answered. Members mark their own answers." in said, where
        assert not JUDGED.search(said), where
        assert not any(_flat(text) in _flat(said) for text in (pair.right, pair.wrong)), where
    assert "0%" not in seen.channel["the reveal"], "nothing has been judged"
    assert "Dailygrad 1 · streak 1" in seen.moments["at the reveal, My result"][0]
    assert "Question still open" in seen.moments["before the close, asking for the key"][0]
    total = len(question.key_points)
    hers, his = seen.moments["after self-marking"]
    assert f"You marked {total} of {total} points" in hers and f"You marked 0 of {total} points" in his
    confirmed, reviewed = map(_flat, seen.moments["after a peer confirmed, and a moderator reviewed"])
    assert "Another member confirmed how you marked" in confirmed and "100%" in confirmed
    assert "A moderator set the credit" in reviewed and "Your points stay as they are" in reviewed
    for moment in ("My result, then", "the explanation, then"):
        hers, his = map(_flat, seen.moments[moment])
        assert "Confirmed: 100%. You answered:" in hers and "Confirmed: 0%. You answered:" in his
        assert not JUDGED.search(_flat(_without(his, pair.wrong)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _without(said: str, own: str) -> str:
    """Returns what a member saw without their own text."""
    return _flat(said).replace(_flat(own), "…")
