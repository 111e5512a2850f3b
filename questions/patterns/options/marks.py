"""Marks of right options that only a whole document shows: bold or a sign before one of a list, an X after it."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

from questions.fences import fence_after, fence_in
from questions.ids import nth_letter
from questions.patterns.options.search import (
    RIGHT_AFTER,
    FoundOption,
    OptionMark,
    OptionRun,
    are_truths,
    begins_with_box,
)
from questions.source import trim
from questions.wording.stems import asks_to_choose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from questions.model import Question

CHECKS: Final = "✅✔✓☑"
_DOTS: Final = "🔴🟠🟡🟢🔵🟣🟤⭐👉"
"""Signs that can mark right options where a document has no check marks, one of them in each document."""
_WRONG: Final = "❌✗✘"
_ITEM = re.compile(
    rf"[ ]{{0,3}}(?:[-*+]|\d{{1,2}}[.)])[ \t]+(?P<signs>(?:[{CHECKS}{_DOTS}{_WRONG}]\ufe0f?)+)?[ \t]*(?P<text>\S.*)"
)
_BARE_ITEM = re.compile(rf"[ ]{{0,3}}(?P<signs>(?:[{CHECKS}{_WRONG}]\ufe0f?)+)(?:[ \t]+(?P<text>\S.*)|[ \t]*$)")
"""A line that begins with a check mark or a cross, without the mark of a list; a program may be below it."""
_CODE_LINE = re.compile(r"[ ]{0,3}`[^`]{1,400}`[ \t]*")
_IN_BOLD = re.compile(r"(?P<mark>\*{2,3}|__|<(?P<tag>b|strong)>)(?P<text>.+)(?(tag)</(?P=tag)>|(?P=mark))[.;,]?")
_SIGNED = re.compile(rf"(?m)^[ \t]*(?:(?:[-*+]|\d{{1,2}}[.)])[ \t]+(?P<sign>[{CHECKS}{_DOTS}])|(?P<bare>[{CHECKS}]))")
_MOST = 10
_FEWEST = 5
_FEWEST_SIGNED = 3
_FEWEST_MARKED = 4
_FEWEST_CHOSEN = 8
"""Fewest lists that are options without a mark, most of them below what asks to choose."""
_FEWEST_TOLD = 2
"""Fewest lists with a sign or a word such as `(correct)` behind some of their items, and no other mark."""
_FEWEST_ALIKE = 3
"""Fewest lists that can be seen to have the same number of items."""
_REGULAR = 0.8
"""Share of questions that must be alike for their lists to be options."""
_SOMETIMES = 5
"""If one list in this many has a sign before an option, lists of the same length are options."""
_SHORT = 60
"""Length up to which list items without a mark can be options, in the middle of a document, characters."""


def marking_signs(texts: Iterable[str]) -> str:
    """Returns the signs that mark what is right in these texts: check marks, or else the only kind of dot, if there are
    some of them. Dots of several colors tell right and wrong apart in a way that only their author knows."""
    signs = Counter(found["sign"] or found["bare"] for text in texts for found in _SIGNED.finditer(text))
    if signs.total() < _FEWEST_SIGNED:
        return ""
    if any(sign in signs for sign in CHECKS):
        return CHECKS
    return next(iter(signs)) if len(signs) == 1 and "🔴" not in signs else ""


def bullet_options(text: str, signs: str = CHECKS) -> tuple[OptionRun, str] | None:
    """Returns the items of a list, those in bold, behind a sign or before a word such as `(correct)` marked, and the
    quotes between them; None if other text is there, or check boxes. Lines that begin with check marks and crosses are
    a list too, also below a program.

    Whether they are options is for the caller to say: only a document in which most questions have such lists shows
    it. A program below an item belongs to it.
    """
    options: list[FoundOption] = []
    quotes: list[str] = []
    lead: list[str] = []
    bare = 0
    fence = ""
    for line in (_as_bullets(text) if "<li" in text.lower() and "```" not in text else text).split("\n"):
        found = fence_in(line)
        if fence or found or (not options and _CODE_LINE.fullmatch(line)):
            if options:
                options[-1] = options[-1]._replace(text=f"{options[-1].text}\n{line}")
            else:
                lead.append(line)
            fence = fence_after(fence, found["mark"]) if found else fence
        elif begins_with_box(line):
            # Check boxes say themselves which is right.
            return None
        elif item := (_ITEM.fullmatch(line) or _BARE_ITEM.fullmatch(line)):
            bare += item.re is _BARE_ITEM
            options.append(_option(item, nth_letter(len(options)), signs))
        elif line.startswith(">") and options:
            quotes.append(line)
        elif line.strip():
            return None
    if not 2 <= len(options) <= _MOST or bare not in (0, len(options)) or (lead and not bare):
        return None
    if bare and not (any(one.marked for one in options) and all(one.text.strip() for one in options)):
        return None
    kind: OptionMark = "sign" if bare else "number" if text.lstrip()[:1].isdigit() else "bullet"
    shown = _without_letters([one._replace(text=one.text.strip()) for one in options])
    run = OptionRun(kind, 0, len(text.split("\n")), tuple(shown))
    if lead:
        run = replace(run, lead=trim("\n".join(lead)))
    return run, "\n".join(quotes)


_LETTER = re.compile(r"[(\[]?(?P<letter>[A-Za-z])[).\]][ \t]+(?=\S)")


def _without_letters(options: list[FoundOption]) -> list[FoundOption]:
    """Returns the options without their letters, if each has the next one; those in bold behind it are marked."""
    found = [_LETTER.match(option.text) for option in options]
    if not all(one and one["letter"].lower() == option.id for one, option in zip(found, options, strict=True)):
        return options
    return [_without_letter(option) for option in options]


def _without_letter(option: FoundOption) -> FoundOption:
    text = _LETTER.sub("", option.text, count=1)
    bold = _IN_BOLD.fullmatch(text)
    return option._replace(text=bold["text"].strip(), marked=True) if bold else option._replace(text=text)


_TAG = re.compile(r"<(?P<end>/?)(?P<name>ul|ol|li|b|strong)\b[^<>]{0,100}>", re.IGNORECASE)


def _as_bullets(html: str) -> str:
    """Returns a list in HTML as bullets; those that `<b>` encloses as a whole, from within or around them, in bold."""
    lines: list[str] = []
    bold, at, inside, marked, said = False, 0, False, True, ""
    for tag in (*_TAG.finditer(html), None):
        text = html[at : tag.start() if tag else len(html)]
        if inside:
            said += text
            marked = marked and (bold or not text.strip())
        elif text.strip():
            lines.append(text.strip())
        name = tag["name"].lower() if tag else "ul"
        if name in ("b", "strong"):
            bold = not (tag and tag["end"])
        elif inside and said.strip():
            shown = " ".join(said.split())
            lines.append(f"- **{shown}**" if marked else f"- {shown}")
        if name not in ("b", "strong"):
            inside, marked, said = name == "li" and not (tag and tag["end"]), True, ""
        at = tag.end() if tag else at
    return "\n".join(lines)


def _option(item: re.Match[str], name: str, signs: str) -> FoundOption:
    said = (item["text"] or "").strip()
    text = RIGHT_AFTER.sub("", said).strip()
    worded = text != said
    bold = _IN_BOLD.fullmatch(text)
    found = item["signs"] or ""
    marked = worded or bold is not None or any(sign in signs for sign in found)
    signed = bool(found) and found[0] not in _WRONG
    return FoundOption(name, bold["text"].strip() if bold else text, marked, signed=signed, told=worded)


def lists_ask_to_choose(found: Sequence[tuple[OptionRun, str] | None], prompts: Sequence[str]) -> bool:
    """Returns whether most lists below the questions of a document are below what asks to choose among them."""
    choosing = sum(one is not None and asks_to_choose(asked) for one, asked in zip(found, prompts, strict=True))
    return choosing >= _FEWEST_SIGNED and choosing * 2 >= sum(one is not None for one in found)


_TELLS_TO_CHOOSE = re.compile(
    r"[(（\[][ *_]{0,3}(?:select|choose|pick|check|mark|tick|sélectionnez|choisissez|cochez|seleccion[ae]|elige"
    r"|elija|marca|selecione|escolha|marque|assinale|wählen sie|kreuzen sie|seleziona(?:re)?|scegli(?:ere)?|выберите"
    r"|отметьте)"
    r"(?![^\W_])[^()（）\[\]\n]{0,60}[)）\]]",
    re.IGNORECASE,
)
"""A request in brackets behind a question: `(Select TWO.)`."""
_TRUTH = re.compile(
    r"(?:true|false|vrai|faux|verdader[oa]|fals[oa]|verdadeir[oa]|vero|wahr|falsch|richtig|prawda|fałsz|верно|неверно)[.]?",
    re.IGNORECASE,
)


def lists_tell_to_choose(found: Sequence[tuple[OptionRun, str] | None], prompts: Sequence[str]) -> bool:
    """Returns whether the lists below the questions of a document are options, because some questions tell to choose
    from them, or can only be true or false, and nearly all questions have such lists."""
    runs = [one[0] for one in found if one and one[0].kind == "bullet"]
    if len(runs) < _FEWEST_MARKED or len(runs) < _REGULAR * len(found):
        return False
    told = sum(
        one is not None and bool(_TELLS_TO_CHOOSE.search(asked)) for one, asked in zip(found, prompts, strict=True)
    )
    either = sum(len(run.options) == 2 and all(_TRUTH.fullmatch(one.text) for one in run.options) for run in runs)
    return told > 0 and (either > 0 or told >= _FEWEST_SIGNED)


def lists_are_to_choose(found: Sequence[tuple[OptionRun, str] | None], prompts: Sequence[str]) -> bool:
    """Returns whether all lists below the questions of a document are options without a key: nearly every question has
    one, at least half of these ask to choose from it or can only be true or false, and no item is marked."""
    runs = [one[0] for one in found if one and one[0].kind == "bullet"]
    if len(runs) < _FEWEST_CHOSEN or len(runs) < _REGULAR * len(found):
        return False
    if any(option.marked or option.signed for run in runs for option in run.options):
        return False
    choosing = sum(
        one is not None and (asks_to_choose(asked) or (len(one[0].options) == 2 and are_truths(one[0])))
        for one, asked in zip(found, prompts, strict=True)
    )
    return choosing * 2 >= len(runs)


def bullets_offer(found: Sequence[tuple[OptionRun, str] | None]) -> bool:
    """Returns whether the lists below the questions of a document are options, not answers.

    They are if most questions have some items marked and some not, or as many short ones as each other, or as many as
    each other and often a sign before the right one.
    """
    runs = [one[0] for one in found if one]
    if len(runs) < _REGULAR * len(found):
        return False
    told = all(option.told for run in runs for option in run.options if option.marked)
    fewest = _FEWEST_TOLD if told else _FEWEST_MARKED
    if len(runs) >= fewest and sum(map(_is_partly_marked, runs)) >= _REGULAR * len(runs):
        bare = [run.options for run in runs if run.kind == "sign"]
        # Lists of what to do and what not to do have marks too, but rarely one among several crosses.
        single = sum(sum(option.marked for option in options) == 1 for options in bare)
        return single >= _REGULAR * len(bare) and sum(len(options) > 2 for options in bare) * 2 >= len(bare)
    if len(runs) < _FEWEST_ALIKE:
        return False
    count, times = Counter(len(run.options) for run in runs).most_common(1)[0]
    if not 3 <= count <= 6 or times < _REGULAR * len(runs):
        return False
    marked = [option for run in runs for option in run.options if option.marked]
    if marked and all(option.signed for option in marked):
        signed = sum(sum(option.signed for option in run.options) == 1 for run in runs)
        return signed >= max(_FEWEST_SIGNED, len(runs) / _SOMETIMES)
    if any(run.kind != "bullet" for run in runs):
        return False  # steps or reasons, which are often as many as each other
    texts = [option.text for run in runs for option in run.options]
    return not marked and _are_short(texts)


def _is_partly_marked(run: OptionRun) -> bool:
    return 0 < sum(option.marked for option in run.options) < len(run.options)


def marks_one(text: str) -> bool:
    """Returns whether a text is a list of at least three items with a check mark before exactly one."""
    found = bullet_options(textwrap.dedent(text)) if _SIGNED.search(text) else None
    options = found[0].options if found else ()
    return len(options) >= _FEWEST_SIGNED and sum(option.signed for option in options) == 1


_EMPHASIS_FIRST = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(?:\*\*|__|<(?:b|strong)>)")


def has_one_in_bold(text: str) -> bool:
    """Returns whether a text is nothing but a list with exactly one item that is in bold as a whole."""
    found = bullet_options(text) if _EMPHASIS_FIRST.search(text) else None
    return found is not None and sum(option.marked for option in found[0].options) == 1


_NUMBERED = re.compile(r"[ ]{0,3}(?P<number>\d{1,2})[.)](?:[ \t]+(?P<text>\S.*)|[ \t]*$)")


def numbered_options(text: str) -> OptionRun | None:
    """Returns the list with the numbers 1, 2, … that a text ends in, with what comes before it; None if there is none.

    A program below an item belongs to it. Whether they are options is for `numbers_offer` to say.
    """
    lines = text.split("\n")
    items = _numbered_items(lines)
    if not 2 <= len(items) <= _MOST:
        return None
    ends = [at for at, _ in items[1:]] + [len(lines)]
    shown = [
        trim(f"{said}\n{textwrap.dedent(chr(10).join(lines[at + 1 : end]))}")
        for (at, said), end in zip(items, ends, strict=True)
    ]
    if not all(shown):
        return None
    options = tuple(FoundOption(nth_letter(index), one, False) for index, one in enumerate(shown))
    return OptionRun("number", items[0][0], len(lines), options, lead=trim("\n".join(lines[: items[0][0]])))


def _numbered_items(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Returns index and text of the first line of each item of the list that some lines end in."""
    items: list[tuple[int, str]] = []
    fence, blank = "", False
    for at, line in enumerate(lines):
        mark = fence_in(line)
        if fence or mark:
            fence = fence_after(fence, mark["mark"]) if mark else fence
        elif found := _NUMBERED.fullmatch(line):
            if int(found["number"]) == 1:
                items = []
            if int(found["number"]) == len(items) + 1:
                items.append((at, found["text"] or ""))
        elif line.strip() and items and blank and not line.startswith(("  ", "\t")):
            # Text at the margin below a gap ends the list.
            items = []
        blank = not line.strip() and not fence
    return items


_ASKS_FOR_LIST = re.compile(
    r"(?:how|steps?|name|list|enumerate|what are|which are|cómo|cuáles son|enumer[ae]|como|quais são|cite|comment"
    r"|quel(?:le)?s sont|énumérez|citez|wie|nenne?n?|zähle|was sind|come|quali sono|elenca|hoe|noem|wat zijn|jak"
    r"|wymień|как|какие|перечислите|назовите|як|які|перелічіть|назвіть|nasıl|sırala\w*|bagaimana|sebutkan|làm thế nào"
    r"|làm sao|kể tên)(?!\w)|如何|怎么|怎樣|怎样|哪些|列举|列出|どのように|どうやって|挙げ|어떻게|나열",
    re.IGNORECASE,
)
"""What asks for steps or for several things: the numbers below it count an answer."""


def numbers_offer(found: Sequence[OptionRun | None], prompts: Sequence[str]) -> bool:
    """Returns whether the numbered lists that end the texts below the questions of a document are options.

    They are if nearly all questions have one, and most ask to choose from it, or none asks for a list and all lists are
    short and as long as each other. Steps and reasons stay an answer.
    """
    listed = [(run, asked) for run, asked in zip(found, prompts, strict=True) if run]
    if len(listed) < _FEWEST_SIGNED or len(listed) < _REGULAR * len(found):
        return False
    if sum(asks_to_choose(asked) for _, asked in listed) * 2 >= len(listed):
        return True
    if sum(_tells_one(run) for run, _ in listed) >= _REGULAR * len(listed):
        return True
    texts = [option.text for run, _ in listed for option in run.options]
    count, times = Counter(len(run.options) for run, _ in listed).most_common(1)[0]
    regular = 3 <= count <= 6 and len(listed) >= _FEWEST and times >= _REGULAR * len(listed)
    asking = sum(_ASKS_FOR_LIST.search(asked) is not None for _, asked in listed)
    return regular and asking * _SOMETIMES < len(listed) and _are_short(texts)


def _are_short(texts: Sequence[str]) -> bool:
    """Returns whether most texts are words or phrases, and no sentences or terms with their meaning."""
    sentences = sum(text.endswith((".", "。", ";")) or ": " in text for text in texts)
    return median(map(len, texts)) <= _SHORT and sentences * 5 < len(texts)


def _tells_one(run: OptionRun) -> bool:
    """Returns whether a word such as `(correct)` is behind the first line of exactly one option."""
    return sum(_without_told(option.text) is not None for option in run.options) == 1


def _without_told(text: str) -> str | None:
    """Returns the text of an option without the word behind its first line that tells it is right; None if there is no
    such word."""
    first, mark, below = text.partition("\n")
    if len(first) > _LONGEST_TOLD:
        return None
    said = RIGHT_AFTER.sub("", f" {first}").strip()
    return trim(f"{said}{mark}{below}") if said != first.strip() else None


_LONGEST_TOLD = 400
"""Length of the first line of an option that may say so, characters."""


def with_told_option(run: OptionRun) -> OptionRun:
    """Returns numbered options with the only one marked that a word such as `(correct)` tells to be right."""
    if not _tells_one(run):
        return run
    shown = [(option, _without_told(option.text)) for option in run.options]
    return replace(
        run, options=tuple(one if text is None else one._replace(text=text, marked=True) for one, text in shown)
    )


_AFTER = re.compile(r"(?<=\S)[ \t]+(?:X|x|[(\[][xX][)\]])[ \t]*$")


def with_marks_after(questions: Iterable[Question]) -> list[Question]:
    """Returns the questions; those whose only option with an X after it is right have this key, if most questions with
    options and no key are written that way."""
    found = list(questions)
    keyless = [one for one in found if one.options and not any(option.right for option in one.options)]
    marked = {id(one) for one in keyless if sum(bool(_AFTER.search(option.text)) for option in one.options) == 1}
    if len(marked) < max(_FEWEST, len(keyless) * _REGULAR):
        return found
    return [_marked_after(one) if id(one) in marked else one for one in found]


def _marked_after(question: Question) -> Question:
    options = tuple(
        replace(option, text=_AFTER.sub("", option.text), right=_AFTER.search(option.text) is not None)
        for option in question.options
    )
    return replace(question, options=options)


_IN_BRACKETS = re.compile(
    r"(?P<open>[(（【\[])[ \u3000?？]*(?P<letters>[A-J](?:[ \u3000]?[,，、]?[ \u3000]?[A-J])*)[ \u3000]*"
    r"(?P<close>[)）】\]])"
)


def with_keys_in_brackets(questions: Iterable[Question]) -> list[Question]:
    """Returns the questions; those with the letters of their right options in a blank, `… is (B)`, have this key and an
    empty blank, if nearly all questions with options are written that way and have no other key."""
    found = list(questions)
    offering = [one for one in found if one.options]
    keyless = [one for one in offering if not any(option.right for option in one.options)]
    filled = {id(one): key for one in keyless if (key := _key_in_brackets(one))}
    wide = all(key["open"] in "（【" for key in filled.values())
    if len(filled) < max(_FEWEST_WIDE if wide else _FEWEST, len(offering) * _REGULAR):
        return found
    return [_with_blank(one, filled[id(one)]) if id(one) in filled else one for one in found]


_FEWEST_WIDE = 2
"""Fewest blanks in Chinese brackets, in which letters stand for nothing else."""


def _key_in_brackets(question: Question) -> re.Match[str] | None:
    """Returns the only brackets in a prompt that hold nothing but letters of its options, each once and in order."""
    found = list(_IN_BRACKETS.finditer(question.prompt))
    ids = _ids(found[0]) if len(found) == 1 else []
    known = {option.id for option in question.options}
    return found[0] if ids and ids == sorted(set(ids)) and known.issuperset(ids) else None


def _ids(found: re.Match[str]) -> list[str]:
    return [letter.lower() for letter in found["letters"] if letter.isalpha()]


def _with_blank(question: Question, key: re.Match[str]) -> Question:
    ids = _ids(key)
    options = tuple(replace(option, right=option.id in ids) for option in question.options)
    prompt = f"{question.prompt[: key.start()]}{key['open']}  {key['close']}{question.prompt[key.end() :]}"
    return replace(question, prompt=prompt, options=options)
