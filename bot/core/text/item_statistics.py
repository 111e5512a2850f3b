"""Cards of item statistics, for those who run the quiz: what each figure says, and the cure to try."""

from __future__ import annotations

from bot.core.cards import Block, Card, Small, Table, Text
from bot.core.text.words import brief_markdown, code_words, minutes_words, percent, plural, seconds_words
from service.wire import BankStatistics, ItemFinding, ItemList, ItemStatistics

HEADS: dict[ItemFinding, str] = {
    "broken": "Possibly a wrong key",
    "ambiguous": "Possibly two right options",
    "disliked": "Members do not like it",
    "hard": "Too hard",
    "easy": "Too easy",
}
CURES: dict[ItemFinding, str] = {
    "broken": "Members who do well elsewhere are marked wrong here. Check the key with `/quiz-admin bank stats ID`, "
    "then import the corrected document or `/quiz-admin bank retire ID`.",
    "ambiguous": "Two options share the answers, and strong members cannot tell them apart either. Reword the question "
    "so that only one is right, or accept both.",
    "disliked": "Most members who gave feedback did not find it a good question. Read their reports, then reword it or "
    "`/quiz-admin bank retire ID`.",
    "hard": "Hardly anyone is right. Ask an easier question on the topic first, or give the question a higher level.",
    "easy": "Nearly everyone is right. Write wrong options that people believe, or give the question a lower level.",
}
WEB_CURES: dict[ItemFinding, str] = {
    "broken": "Members who do well elsewhere are marked wrong here. Open the question and check its key: edit it, and "
    "its answers are judged again, or retire it.",
    "ambiguous": CURES["ambiguous"],
    "disliked": "Most members who gave feedback did not find it a good question. Read their reports, then reword or "
    "retire it.",
    "hard": CURES["hard"],
    "easy": CURES["easy"],
}
"""Cures on a page where the question is one click away."""
_SEPARATES = 0.2
"""Discrimination from which a question separates members well."""
_WRONG_SHOWN = 120
"""Characters of an option that are shown."""


def bank_summary(view: BankStatistics) -> str:
    """Says in a sentence how much was asked, and how many questions need a look."""
    days = plural(view.days, "day")
    if not view.asked:
        return f"No round closed in the last {days}, so there is nothing to say yet."
    found = sum(len(one.items) + one.more for one in view.lists)
    sentence = f"{plural(view.asked, 'question')} asked in the last {days}, {plural(view.answers, 'answer')}. "
    return sentence + (
        f"{plural(found, 'question needs', 'questions need')} a look." if found else "None stands out yet."
    )


def bank_card(view: BankStatistics) -> Card:
    """Lists the questions that need work, with the cure for each list."""
    title, sentence = "How the questions did", bank_summary(view)
    if not view.asked:
        return Card(title, sentence, (Text(sentence), *_never_asked(view)))
    lists = [block for one in view.lists if one.items for block in _list(one)]
    how = "A few answers say little: a question needs at least ten. `/quiz-admin bank stats ID` shows one question."
    return Card(title, sentence, (Text(sentence), *lists, *_never_asked(view), Small(how)))


def more_words(found: ItemList) -> str:
    """Says how many questions a list leaves out."""
    return f"{plural(found.more, 'more is', 'more are')} like this."


def _list(found: ItemList) -> tuple[Block, ...]:
    heads = ("Question", "Right", "Answers", "Discrimination", "Reports")
    rows = tuple(_row(item) for item in found.items)
    more = f" {more_words(found)}" if found.more else ""
    head = f"**{HEADS[found.finding]}.** {CURES[found.finding]}{more}"
    # The text names the list, so that the table needs no caption.
    return Text(head), Table(heads, rows, "", (1, 2, 3, 4))


def _row(item: ItemStatistics) -> tuple[str, ...]:
    name = f"{item.question} (retired)" if item.retired else item.question
    return name, *cells(item)


def cells(item: ItemStatistics) -> tuple[str, str, str, str]:
    """Returns the figures of a question in a list: right, answers, discrimination and reports."""
    right = "none" if item.right is None else percent(item.right)
    discrimination = "too few" if item.discrimination is None else _signed(item.discrimination)
    return right, str(item.judged), discrimination, str(item.reports)


def _never_asked(view: BankStatistics) -> tuple[Block, ...]:
    if not view.never_asked:
        return ()
    names = ", ".join(map(code_words, view.never_asked))
    more = f" and {view.more_never_asked:,} more" if view.more_never_asked else ""
    cure = "Schedules will get to them; `/quiz-admin ask` with a topic posts one now."
    return (Text(f"**Never asked.** {cure}\n\n{names}{more}"),)


def question_card(item: ItemStatistics) -> Card:
    """Shows how one question did, in sentences."""
    title = f"How {item.question} did" + (" (retired)" if item.retired else "")
    days = plural(item.days, "day")
    if not item.rounds:
        sentence = f"No round with {code_words(item.question)} closed in the last {days}."
        why = "Only rounds with its current version count: a corrected question starts over."
        return Card(title, f"No round with it closed in the last {days}.", (Text(sentence), Small(why)))
    times = "once" if item.rounds == 1 else plural(item.rounds, "time")
    asked = f"Asked {times} in the last {days}, {plural(item.answers, 'answer')}"
    first = f"{asked}, from {brief_markdown(item.bank)}." if item.bank else f"{asked}."
    blocks: list[Block] = [Text("\n".join(f"- {line}" for line in (first, *figure_lines(item), _reports(item))))]
    if item.finding is not None:
        cure = CURES[item.finding].replace(" ID`", f" {item.question}`")
        if item.finding == "broken":
            cure = "Check the key: " + _broken_cure(item)
        blocks.append(Text(f"**{HEADS[item.finding]}.** {cure}"))
    if item.retired:
        blocks.append(Small(f"It is retired. `/quiz-admin bank restore {item.question}` lets it be asked again."))
    right = "nobody is judged yet" if item.right is None else f"{percent(item.right)} right"
    return Card(title, f"{asked}, {right}.", tuple(blocks))


def figure_lines(item: ItemStatistics) -> tuple[str, ...]:
    """Returns what the figures of a question say, as lines of Markdown."""
    lines = (_right(item), _expected(item), _discrimination(item), _wrong(item), _time(item), _liked(item))
    return tuple(line for line in lines if line)


def _broken_cure(item: ItemStatistics) -> str:
    return (
        f"`/quiz explain {item.question}` shows it. If it is wrong, import the corrected document, which judges the "
        f"answers again; if it is right, the wording misleads: reword it or `/quiz-admin bank retire {item.question}`."
    )


def _right(item: ItemStatistics) -> str:
    if item.right is None:
        return "**Right:** no answer has a credit yet." if item.answers else ""
    between = f"probably {percent(item.right_low)} to {percent(item.right_high)} if many more answered"
    few = "; few answers say little" if item.judged < 10 else ""
    return f"**{percent(item.right)} right** of {plural(item.judged, 'answer')}, {between}{few}."


def _expected(item: ItemStatistics) -> str:
    if item.expected is None:
        return ""
    between = f"{percent(item.expected_low)} to {percent(item.expected_high)}"
    return f"**All members:** {percent(item.expected)} would be right ({between}), including those who were absent."


def _discrimination(item: ItemStatistics) -> str:
    if not item.judged:
        return ""
    if item.discrimination is None:
        return (
            "**Discrimination:** none yet. It needs 15 answers, some right and some wrong, by members who also "
            "answered three other questions."
        )
    if item.discrimination < 0:
        what = "members who do well elsewhere do worse here"
    elif item.discrimination < _SEPARATES:
        what = "it hardly separates members who do well elsewhere from the others"
    else:
        what = "members who do well elsewhere do better here, as they should"
    return f"**Discrimination {_signed(item.discrimination)}** (from -1 to 1): {what}."


def _wrong(item: ItemStatistics) -> str:
    if item.wrong is None:
        return ""
    more = ", more than the right one" if item.wrong_beats_right else ""
    share = percent(item.wrong.share)
    return f"**Most chosen wrong option:** {brief_markdown(item.wrong.text, _WRONG_SHOWN)} ({share} of answers{more})."


def _time(item: ItemStatistics) -> str:
    return "" if item.seconds is None else f"**Time from post to answer:** {duration_words(item.seconds)} (median)."


def _liked(item: ItemStatistics) -> str:
    return f"**Feedback:** {liked_words(item)}." if item.rated else ""


def liked_words(item: ItemStatistics) -> str:
    """Says how many members found a question good, of those who said so."""
    share = percent(item.liked / item.rated)
    return f"{item.liked} of {plural(item.rated, 'member')} found it a good question ({share})"


def duration_words(seconds: float) -> str:
    """Returns a time from post to answer in words, rounded."""
    return minutes_words(round(seconds / 60)) if seconds >= 3600 else seconds_words(seconds)


def _reports(item: ItemStatistics) -> str:
    more = " `/quiz-admin review list` shows them." if item.reports else ""
    return f"**Reports:** {item.reports}.{more}"


def _signed(value: float) -> str:
    return f"{value:+.2f}"
