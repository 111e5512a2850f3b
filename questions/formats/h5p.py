"""Reads H5P: the questions in packages (`.h5p`) and in their `content.json`, also within videos, slides and books."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.places import places_of
from questions.formats.data.shapes import mappings_in
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_open,
    add_short,
    add_unanswered,
)
from questions.formats.markdown import markdown_converter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.source import Source

NAME = "h5p"
CONTENT, MANIFEST = "content/content.json", "h5p.json"
"""Files of a package: what it shows, and of what type that is."""

_LIBRARY = re.compile(r'"library"\s*:\s*"H5P\.\w+')
_DEEPEST = 40
_MOST = 20_000
"""Most contents that are looked at."""


def sniff(source: Source) -> bool:
    """Returns whether the document is the content of H5P."""
    text = "\n".join(source.lines)
    return text.lstrip()[:1] in ("{", "[") and _LIBRARY.search(text) is not None and _load(text) is not None


def content_of(manifest: str, content: str) -> str:
    """Returns the content of a package with its type, as it is within other content. Raises ValueError."""
    about, params = json.loads(manifest), json.loads(content)
    library = str(about.get("mainLibrary", "")) if isinstance(about, dict) else ""
    return json.dumps({"library": library, "params": params}, ensure_ascii=False, indent=1)


def read(source: Source) -> ImportDraft:
    """Reads all questions; findings name types of content that do not ask in words."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    data = _load("\n".join(source.lines))
    if data is None:
        return draft.unreadable("this is not the content of H5P", "export the content as `.h5p` again")
    found = [(kind, params) for kind, params in _contents(data, 0, [_MOST]) if kind in _KINDS or kind in _PICTURED]
    asked = [_first_text(kind, params) for kind, params in found]
    for (kind, params), (first, last) in zip(found, places_of(source, asked), strict=True):
        if not draft.accepts(first, last, len(str(params))):
            break
        if kind in _KINDS:
            _KINDS[kind](draft, _Place(first, last), params)
        else:
            draft.add_skipped(f"unsupported type of content `{kind}`", "write it as a choice in words", (first, last))
    if not draft.questions and not draft.findings:
        draft.unreadable("the content has no questions", "export content that asks, such as a question set")
    return draft


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _contents(data: Any, depth: int, left: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the type and the values of each content, in order; those within a content follow it."""
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        return
    if isinstance(data, dict):
        library, params = data.get("library"), data.get("params")
        if isinstance(library, str) and library.startswith("H5P.") and isinstance(params, dict):
            yield library.split()[0].removeprefix("H5P."), params
        for value in data.values():
            yield from _contents(value, depth + 1, left)
    elif isinstance(data, list):
        for value in data:
            yield from _contents(value, depth + 1, left)


class _Place(tuple[int, int]):
    """First and last line of a content."""

    __slots__ = ()

    def __new__(cls, first: int, last: int) -> _Place:
        """Returns the place of these lines."""
        return super().__new__(cls, (first, last))

    def item(self, prompt: str, why: str = "") -> Item:
        """Returns a question there."""
        return Item(*self, prompt, why=why)


_ASKING = ("question", "taskDescription", "intro", "text", "textField", "description", "title")


def _first_text(kind: str, params: dict[str, Any]) -> str:
    """Returns a text of the content as it is written, by which its lines are found."""
    for name in _ASKING:
        if isinstance(params.get(name), str) and params[name].strip():
            return str(params[name])
    return kind


_PLAIN = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,9}")
"""Words that mean the same in HTML and in Markdown."""


def _words(value: Any) -> str:
    """Returns a text in HTML as Markdown."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return markdown_converter("html")(value).strip() if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [text for one in value if (text := _words(one))] if isinstance(value, list) else []


# The types of content


def _multi_choice(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    offers = []
    for answer in mappings_in(params.get("answers")):
        tips = answer.get("tipsAndFeedback")
        feedback = _words(tips.get("chosenFeedback")) if isinstance(tips, dict) else ""
        right = answer.get("correct") is True
        offers.append(OptionDraft(_words(answer.get("text")), right, "" if right else feedback))
    add_choice(draft, place.item(_words(params.get("question"))), offers)


def _true_false(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    key = str(params.get("correct")).lower()
    item = place.item(_words(params.get("question")))
    if key not in ("true", "false"):
        add_unanswered(draft, item, ["True", "False"])
        return
    add_choice(draft, item, [OptionDraft("True", key == "true"), OptionDraft("False", key == "false")])


def _first_is_right(draft: ImportDraft, item: Item, texts: list[str]) -> None:
    """Adds a choice whose first option is the right one, as this type of content has it."""
    add_choice(draft, item, [OptionDraft(text, at == 0) for at, text in enumerate(texts)])


def _single_choices(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    for choice in mappings_in(params.get("choices")):
        if asked := _words(choice.get("question")):
            _first_is_right(draft, place.item(asked), _texts(choice.get("answers")))


def _summary(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    intro = _words(params.get("intro")) or "Choose the correct statement."
    for one in mappings_in(params.get("summaries")):
        if len(statements := _texts(one.get("summary"))) > 1:
            _first_is_right(draft, place.item(intro), statements)


_GAP = re.compile(r"(?<!\*)\*(?!\*)(?P<answer>[^*\n]{1,300})\*(?!\*)")
_SHOWN = "_____"


def _gaps(draft: ImportDraft, place: _Place, task: str, text: Any, words: str = "", others: Any = "") -> None:
    """Adds a text whose gaps are written as `*views/view:a hint*`.

    `words`: what is said before the words to choose from, where there are any; `others`: more of these words.
    """
    if not isinstance(text, str):
        return
    answers = [[*map(_words, one["answer"].partition(":")[0].split("/"))] for one in _GAP.finditer(text)]
    if not answers:
        draft.add_skipped("the text has no gap", "mark a word with `*`", place)
        return
    shown = _words(_GAP.sub(_SHOWN, text))
    item = place.item(f"{task}\n\n{shown}".strip())
    wrong = [_words(one["answer"]) for one in _GAP.finditer(others)] if isinstance(others, str) else []
    if len(answers) == 1 and wrong:
        add_choice(draft, item, [OptionDraft(answers[0][0], True), *(OptionDraft(one, False) for one in wrong)])
    elif len(answers) == 1:
        add_short(draft, item, answers[0])
    else:
        if words:
            offered = sorted({one[0] for one in answers}.union(wrong), key=str.casefold)
            item.prompt += f"\n\n{words} {', '.join(offered)}"
        add_open(draft, item, "\n".join(f"{at}. {' / '.join(one)}" for at, one in enumerate(answers, 1)))


def _blanks(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    asked = params.get("questions")
    # Older versions have one text.
    for text in asked if isinstance(asked, list) else [params.get("text")]:
        _gaps(draft, place, _words(params.get("text")) if isinstance(asked, list) else "", text)


def _drag_text(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    task, others = _words(params.get("taskDescription")), params.get("distractors")
    _gaps(draft, place, task, params.get("textField"), words="Words:", others=others)


def _marked_words(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    text = params.get("textField")
    marked = [_words(one["answer"]) for one in _GAP.finditer(text)] if isinstance(text, str) else []
    shown = _words(_GAP.sub(lambda one: one["answer"], text)) if isinstance(text, str) else ""
    task = _words(params.get("taskDescription"))
    add_open(draft, place.item(f"{task}\n\n{shown}".strip()), "\n".join(f"- {word}" for word in marked))


def _essay(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    solution = params.get("solution")
    sample = _words(solution.get("sample")) if isinstance(solution, dict) else ""
    add_open(draft, place.item(_words(params.get("taskDescription"))), sample)


def _cards(*lists: str) -> Callable[[ImportDraft, _Place, dict[str, Any]], None]:
    """Returns what adds each card of the first of some lists."""

    def add(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
        for card in next((found for name in lists if (found := mappings_in(params.get(name)))), []):
            asked, answer = _words(card.get("text") or card.get("clue")), _words(card.get("answer"))
            if asked and answer:
                add_short(draft, place.item(asked), [answer])
            else:
                draft.add_skipped("this card has a picture or a sound on one side", "describe it in words", place)

    return add


def _open(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    add_unanswered(draft, place.item(_words(params.get("question"))), _texts_of(params.get("alternatives")))


def _texts_of(value: Any) -> list[str]:
    return [text for one in mappings_in(value) if (text := _words(one.get("text")))]


def _order(draft: ImportDraft, place: _Place, params: dict[str, Any]) -> None:
    texts = _texts(params.get("paragraphs"))
    listed = "\n".join(f"- {text}" for text in sorted(texts, key=str.casefold))
    item = place.item(f"{_words(params.get('taskDescription'))}\n\n{listed}".strip())
    add_open(draft, item, "\n".join(f"{at}. {text}" for at, text in enumerate(texts, 1)))


_KINDS: dict[str, Callable[[ImportDraft, _Place, dict[str, Any]], None]] = {
    "MultiChoice": _multi_choice,
    "TrueFalse": _true_false,
    "SingleChoiceSet": _single_choices,
    "Summary": _summary,
    "Blanks": _blanks,
    "DragText": _drag_text,
    "MarkTheWords": _marked_words,
    "Essay": _essay,
    "Flashcards": _cards("cards"),
    "Dialogcards": _cards("dialogs"),
    "Crossword": _cards("words"),
    "SimpleMultiChoice": _open,
    "OpenEndedQuestion": _open,
    "SortParagraphs": _order,
}
_PICTURED = (
    *("DragQuestion", "ImageHotspotQuestion", "ImageMultipleHotspotQuestion", "MultiMediaChoice", "MemoryGame"),
    *("ImagePair", "ImageSequencing", "Dictation", "SpeakTheWords", "SpeakTheWordsSet", "GuessTheAnswer"),
    *("ArithmeticQuiz", "PersonalityQuiz", "FindTheWords"),
)
"""Types of content that ask with pictures, sounds, or what they make up."""
