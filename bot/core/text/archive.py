"""Words of the archive and of a question's page: how the member did, how the team answered, what a proof computed."""

from __future__ import annotations

from bot.core.markup import escape
from bot.core.text.code_results import cause_words, gpu_words
from bot.core.text.item_statistics import duration_words, liked_words
from bot.core.text.questions import lettered
from bot.core.text.results import CLEARED, verdict_title
from bot.core.text.reveals import points_line, rank_line, streak_line
from bot.core.text.suggestions import SUGGEST as SUGGEST
from bot.core.text.words import KIND_NAMES as KIND_NAMES
from bot.core.text.words import brief_markdown, code_words, joined, percent, plural, sentence
from service.wire import (
    Archive,
    ArchivedRound,
    ArchiveSearch,
    ItemStatistics,
    OptionKey,
    OwnResult,
    ProofRun,
    QuestionPage,
    RoundResult,
)

OWN: dict[OwnResult, str] = {"right": "I was right", "wrong": "I was wrong", "missed": "I did not answer"}
MISSING = "Do you know a question your team should try?"


def outcome(one: ArchivedRound | RoundResult) -> tuple[str, str]:
    """Returns how the member did, and the kind of its mark: good, part, bad or none."""
    if one.given is None:
        return "Not answered", "none"
    verdict, credit = one.verdict, one.credit if isinstance(one, ArchivedRound) else None
    if isinstance(one, RoundResult):
        verdict, credit = (one.verdict.verdict, one.verdict.credit) if one.verdict else (None, None)
    if verdict is None or verdict == "system error":
        return "Not judged", "none"
    if credit is None:
        return "Not marked by others", "none"
    if credit >= 1:
        return "Right", "good"
    return (f"Partly right, {percent(credit)}", "part") if credit > 0 else ("Not right", "bad")


def team(answers: int, right: int | None) -> str:
    """Says how the team did."""
    if not answers:
        return "nobody answered"
    return plural(answers, "answer") if right is None else f"{right} of {answers} right"


def found(archive: Archive, wanted: ArchiveSearch) -> str:
    """Says how many rounds there are."""
    count = plural(archive.total, "question")
    asked = wanted.text or wanted.topic or wanted.kind or wanted.own
    return f"{count} found" if asked else f"{count} asked so far"


def nothing(archive: Archive, wanted: ArchiveSearch) -> str:
    """Says why nothing is listed, and what to do."""
    if wanted.page > 1:
        return "There are no more pages. Go back to the first."
    if wanted.text or wanted.topic or wanted.kind or wanted.own:
        return "No closed question matches this search. Try fewer words, or show everything."
    return "Questions appear here once their round has closed, with the answer and how everyone did."


def own_headline(result: RoundResult) -> tuple[str, str]:
    """Returns the headline of the member's own result, and its kind: good, part, bad or none."""
    if result.given is None:
        return "You did not answer this one", "none"
    if result.verdict is None:
        return "Your answer is not judged yet", "none"
    kind = outcome(result)[1]
    return verdict_title(result.verdict).removesuffix("."), kind


def own_sentence(result: RoundResult) -> str:
    """Says what the member answered, and why it is wrong if it is. Markdown."""
    if result.given is None:
        return "It costs you no points. Practicing it now teaches you the same."
    if result.given.options is not None:
        chosen = [option for option in result.key.options if option.id in result.given.options]
        options = "; ".join(_chosen(option) for option in chosen)
        return f"You chose {options}" if options else "You chose nothing."
    if result.given.cleared:
        return CLEARED
    if result.key.question.kind == "code":
        return "Your code is below."
    return ""


def _chosen(option: OptionKey) -> str:
    if option.right or not option.reason:
        return f"{option.text}"
    return f"{option.text}: {sentence(option.reason)[:1].lower()}{sentence(option.reason)[1:]}"


def facts(result: RoundResult) -> tuple[str, ...]:
    """Returns points, streak and change of rank, as Markdown."""
    lines = (points_line(result.points), streak_line(result), rank_line(result.rank))
    return tuple(line for line in lines if line)


def options(page: QuestionPage) -> tuple[tuple[str, OptionKey, bool, float], ...]:
    """Returns the options as the member saw them: letter, key, whether they chose it, share of the answers."""
    keys = {key.id: key for key in page.result.key.options}
    chosen = (page.result.given and page.result.given.options) or ()
    return tuple(
        (letter, keys[id_], id_ in chosen, keys[id_].chosen_by / max(1, page.answers))
        for letter, id_, _ in lettered(page.result.key.question)
        if id_ in keys
    )


def compares(page: QuestionPage) -> bool:
    """Returns whether the answers of the team can be shown beside one another: not those to different variants."""
    return bool(page.answers) and page.result.key.question.variant is None


def variant_note(page: QuestionPage) -> str:
    """Says whose values the page shows, where every member had a variant of their own."""
    shown = {"own": "This is yours.", "example": "You did not open the question, so this is the example."}
    variant = page.result.key.question.variant
    return f"Everyone had their own variant. {shown[variant]}" if variant else ""


def typed_rows(page: QuestionPage) -> tuple[tuple[str, int, float, bool], ...]:
    """Returns the distribution of typed answers: Markdown, count, share, whether it is right."""
    if not compares(page) or page.right is None or page.result.key.options:
        return ()
    right = (brief_markdown(f"`{page.result.key.answer}`") if page.result.key.answer else "Right", page.right)
    if page.result.key.question.kind == "code":
        right = ("Passed", page.right)
    rows = [(*right, True), *((escape(text), count, False) for text, count in page.wrong_texts)]
    return tuple((label, count, count / page.answers, is_right) for label, count, is_right in rows)


def statistics(item: ItemStatistics, *, moderator: bool) -> tuple[tuple[str, str], ...]:
    """Returns the question's figures: name and Markdown. Discrimination, reports and feedback are for
    moderators."""
    if not item.rounds:
        return (("Asked", "no round with the current version has closed in the last year"),)
    times = "once" if item.rounds == 1 else plural(item.rounds, "time")
    rows = [("Asked", f"{times}, {plural(item.answers, 'answer')}")]
    if item.right is not None:
        rows.append(
            ("Right", f"**{percent(item.right)}**, likely {percent(item.right_low)} to {percent(item.right_high)}")
        )
    if item.wrong is not None:
        beats = ", more than the right one" if item.wrong_beats_right else ""
        share = percent(item.wrong.share)
        rows.append(("Most chosen wrong option", f"{brief_markdown(item.wrong.text, 120)} ({share}{beats})"))
    if item.seconds is not None:
        rows.append(("Time to answer", f"{duration_words(item.seconds)} from the post (median)"))
    if moderator:
        rows += _for_moderators(item)
    return tuple(rows)


def _for_moderators(item: ItemStatistics) -> list[tuple[str, str]]:
    words = "too few answers" if item.discrimination is None else f"{item.discrimination:+.2f} (from -1 to 1)"
    feedback = liked_words(item) if item.rated else "none yet"
    return [("Discrimination", words), ("Reports", str(item.reports)), ("Feedback", feedback)]


def source(page: QuestionPage) -> tuple[tuple[str, str], ...]:
    """Returns where the question comes from: name and Markdown."""
    key = page.result.key
    rows = (
        ("Bank", escape(key.question.source)),
        ("Place", code_words(key.place) if key.place else ""),
        ("License", escape(key.question.license)),
        ("Suggested by", escape(page.suggested_by)),
        ("Id", code_words(key.question.id)),
        ("Judged on", _judged_on(page)),
    )
    return tuple(row for row in rows if row[1])


def _judged_on(page: QuestionPage) -> str:
    if page.device == "cpu":
        return ""
    where = "CPU and GPU" if page.device == "both" else "GPU"
    return where if page.gpu_proof else f"{where}; not yet proved on a GPU"


PROVE_WORDS = {
    "choice": "Computes which options are right, in the sandbox.",
    "value": "Computes the value, in the sandbox.",
    "open": "Computes the facts that the key points state, in the sandbox.",
    "output": "Runs the program, in the sandbox.",
    "code": "Runs the solution on its visible and hidden cases, in the sandbox.",
}


def proof_headline(run: ProofRun) -> tuple[str, str]:
    """Says whether what a proof computed matches the key, and the kind of the message: good, bad or none."""
    if run.ours:
        return "The sandbox failed (our fault). Please try again.", "none"
    if run.holds:
        return {
            "proof": "The proof holds: what it computed matches the key.",
            "program": "It printed what the key says.",
            "reference": f"The solution passes all {plural(run.cases, 'case')}.",
        }[run.ran], "good"
    if run.failed:
        return "The program failed, so it proves nothing.", "bad"
    return "What it computed does not match the key. Please report this question.", "bad"


def proof_failure(run: ProofRun) -> str:
    """Says why a proof that failed did so, unless what it wrote itself says it. Markdown; empty for others."""
    if run.cause is not None:
        return cause_words(run.cause)
    unread = run.failed and not run.problem
    return "It ended without a fact that can be compared with the key." if unread else ""


def fact_words(holds: bool | None) -> str:
    """Says what a proof found about an option or a key point."""
    return "not computed" if holds is None else "true" if holds else "false"


def timing(run: ProofRun) -> str:
    """Says where and how long it ran."""
    took = f"{run.wall_ms:,.0f} ms" if run.wall_ms else ""
    return joined("Run just now in the sandbox", took, gpu_words(run.note).removesuffix("."))
