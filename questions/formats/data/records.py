"""Reads lists of questions in data: JSON, JSON Lines, YAML and TOML, with fields in any order and usual spelling.

The key is a flag on an option, a letter, the text of an option, or an index. An index is counted from 0 or 1 only if
the document shows which; otherwise the questions stay unanswered.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.formats.data.anki_notes import NOTE_TEXT, with_named_notes
from questions.formats.data.field_names import (
    ASKING,
    FLAGS,
    OPTION_TEXT,
    ROLE_OF,
    WRONG_FLAGS,
    option_places,
    spelled,
)
from questions.formats.data.keys import (
    LETTER,
    Record,
    base_of,
    right_texts,
    with_accepted_answers,
    with_fitting_labels,
    with_named_key,
    with_naming_keys,
    with_number_keys,
    with_split_keys,
    with_worded_letters,
)
from questions.formats.data.languages import LANGUAGE, in_english, in_one_language, in_one_text
from questions.formats.data.loading import MOST_VALUES, load, load_data, name_error, name_slips
from questions.formats.data.nested import (
    as_cards,
    as_rows,
    by_initials,
    entries_by_number,
    listed_questions,
    of_marked_letters,
    one_field_each,
    unnested,
    without_wrappers,
)
from questions.formats.data.options import (
    accepted_answers,
    flags_of,
    lettered_options,
    mark_of,
    option_text,
    options_of,
    shown_text,
    written_as_json,
)
from questions.formats.data.places import places_of
from questions.formats.data.published import of_published
from questions.formats.data.questions import add_record
from questions.formats.data.rich_text import joined_parts
from questions.formats.data.roles import DATA_ROLES, by_roles, place_of, role_among, role_of
from questions.formats.data.shapes import (
    asking_names,
    flags_beside,
    of_conversation,
    rows_of_columns,
    without_numbers,
)
from questions.formats.data.tasks import of_task
from questions.formats.data.titles import with_asking_titles
from questions.formats.data.unknown_fields import asking_field, completing_field, renamed
from questions.formats.data.unnamed_fields import InferredFields, describe_fields, infer_fields
from questions.formats.data.unread import name_uneven, name_unread
from questions.formats.draft import (
    ImportDraft,
)
from questions.formats.tables.keys import UNKNOWN_BASE
from questions.wording.imperatives import sets_task
from questions.wording.stems import demands, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.source import Source

NAME = "records"

_FEWEST_OPTIONS = 2
_DEEPEST = 12
"""Depth to which lists of questions are searched."""


def sniff(source: Source) -> bool:
    """Returns whether the document is data with a list of questions."""
    return bool(_records(load_data(source)))


def holds_records(data: Any) -> bool:
    """Returns whether data has questions with options or an answer."""
    return any(record.has_key for record in _records(data))


def only_asks(data: Any, share: float = 0.9) -> bool:
    """Returns whether data has nothing but questions without options and answers. `share`: that of the texts which
    must ask."""
    texts = [str(record.values["question"]) for record in _records(data)]
    return len(texts) >= _FEWEST_ASKING and sum(map(reads_as_question, texts)) >= share * len(texts)


_FEWEST_ASKING = 5
"""Fewest questions alone in the data of a program."""


def read(source: Source) -> ImportDraft:
    """Reads all questions of the longest lists of records that ask."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    loaded = load(source)
    if loaded.value is None and name_error(draft):
        return draft
    name_slips(draft, loaded)
    return read_data(draft, loaded.value)


def read_data(draft: ImportDraft, data: Any, lines: Sequence[tuple[int, int]] = ()) -> ImportDraft:
    """Reads all questions of a document's data. `lines`: those of each entry, where the format says them."""
    found, inferred = _found(data)
    name_uneven(draft, data, role_of)
    if not found:
        _name_no_questions(draft, data)
        return draft
    if inferred is not None:
        cure = "if this is wrong, state a recipe that names the right fields"
        draft.add("Q613", inferred.message, cure, (1, 1), severity="note", note=inferred.note)
    found = with_worded_letters(with_accepted_answers(with_naming_keys(found)))
    found = with_number_keys(with_named_key(draft, with_fitting_labels(with_split_keys(found))))
    found = _with_completing(draft, found)
    base = base_of(found)
    left_out = sorted(name for name in found[0].unknown if LANGUAGE.search(name))
    if left_out:
        shown = ", ".join(f"`{name[:40]}`" for name in left_out[:10])
        cure = "import a file in each language for a bank in each"
        draft.add("Q610", f"other languages were not imported: {shown}", cure, (1, 1), severity="note")
    places = (
        lines
        if len(lines) == len(found)
        else places_of(draft.source, [record.unknown.get(NOTE_TEXT, record.values["question"]) for record in found])
    )
    asked = without_numbers([shown_text(record.values["question"]) for record in found])
    for record, text, (first, last) in zip(found, asked, places, strict=True):
        add_record(draft, replace(record, values={**record.values, "question": text}), first, last, base)
    draft.merge(UNKNOWN_BASE)
    name_unread(draft, data, ([one.values, one.unknown, one.options] for one in found))
    return draft


# The records of a document


def _records(data: Any) -> list[Record]:
    return _found(data)[0]


def _found(data: Any) -> tuple[list[Record], InferredFields | None]:
    """Returns the records, and what their fields are where only what is in them shows it."""
    data = with_named_notes(data)
    found = [record for records in _lists(data, 0, [MOST_VALUES]) for record in records]
    inferred = None
    if not found and (name := asking_field(data, DATA_ROLES, _offers)):
        found = [record for records in _lists(renamed(data, name), 0, [MOST_VALUES]) for record in records]
    if not found and (inferred := infer_fields(data, DATA_ROLES)):
        for name, called in inferred.names.items():
            data = renamed(data, spelled(name), called)
        found = [record for records in _lists(data, 0, [MOST_VALUES]) for record in records]
        found = [_answered_by_why(record) for record in found] if inferred.explained else found
    if not found and (bare := without_wrappers(data)) != data:
        return _found(bare)
    if not found:
        texts = [text for text in listed_questions(data) if text.strip()]
        return [Record({"question": text}, (), (), {}) for text in texts], None
    offered = [record for record in found if record.values.get("_options") == "alternatives"]
    others = [record for record in offered if "wrong" in record.values]
    # Where `alternatives` are the other options, they are that in all questions, also beside a number.
    return [_with_others(record) if record in offered else record for record in found] if others else found, inferred


def _answered_by_why(record: Record) -> Record:
    """Returns a record whose explanation, which is all that it says of the question, is its answer."""
    values = {name: value for name, value in record.values.items() if name not in ("why", "_why")}
    why = record.values.get("why")
    return record if not why or record.options else replace(record, values={**values, "correct": why})


def _name_no_questions(draft: ImportDraft, data: Any) -> None:
    """Adds a finding that nothing was read; where records have fields with unknown names, what these hold."""
    if fields := describe_fields(data, DATA_ROLES):
        draft.add("Q601", fields.message, fields.cure, (1, 1), severity="error", note=fields.note)
    else:
        cure = "give each question a field `question`, and `options` or `answer`"
        draft.unreadable("this data has no list of questions", cure)
    name_unread(draft, data, ())


def _with_completing(draft: ImportDraft, records: list[Record]) -> list[Record]:
    """Returns the records; where questions repeat, the field that tells them apart is part of them."""
    asking = [record for record in records if record.asks]
    if any("correct" not in record.values or record.values.get("context") for record in asking):
        return records
    name = completing_field(
        [(str(one.values["question"]), one.unknown, right_texts(one.values["correct"])) for one in asking]
    )
    if not name:
        return records
    message = f"the field `{name[:40]}` was read as part of the question: it tells apart questions that repeat"
    cure = "if this is wrong, remove the field, or write each question in one field"
    draft.add("Q613", message, cure, (1, 1), severity="note")
    return [
        replace(
            record,
            values={**record.values, "question": f"{record.values['question']}\n\n{record.unknown[name]}"},
            unknown={key: value for key, value in record.unknown.items() if key != name},
        )
        if isinstance(record.unknown.get(name), str)
        else record
        for record in records
    ]


def _with_others(record: Record) -> Record:
    texts = {option_text(option) for option in record.options}
    if "wrong" in record.values or not record.options or texts & set(right_texts(record.values.get("correct"))):
        return record
    return Record({**record.values, "wrong": list(record.options)}, (), (), record.unknown)


def _lists(
    value: Any, depth: int, left: list[int], *, listed: bool = False, context: Any = ""
) -> Iterator[list[Record]]:
    """Yields the lists of records that ask, wherever they are in the data.

    `listed`: whether the value is, or is in, an item of a list. Marked texts there are options. `context`: the text
    that all questions in the value are about.
    """
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        return
    if isinstance(value, list):
        named = as_cards(value) or as_rows(value) or (one if isinstance(one, dict) else _by_place(one) for one in value)
        entries = [(one, _record(one) or _held(one)) for one in named if one]
        read = sum(record is not None for _, record in entries)
        if read and read * 2 >= len(value):
            records = [record for one, found in entries if (record := found or _unread(one))]
            yield [_with_context(record, context) for record in records]
        else:
            for one in value:
                yield from _lists(one, depth + 1, left, listed=True, context=context)
    elif isinstance(value, dict):
        value = with_asking_titles(value)
        context = next((one for name, one in value.items() if _holds_context(name, inside=depth > 0)), context)
        if alone := _alone(value, inside=depth > 0):
            yield [alone]
        elif rows := _rows_of(value):
            yield from _lists(rows, depth + 1, left, listed=listed, context=context)
        else:
            for name, one in value.items():
                if isinstance(one, dict | list) and not (listed and _offers(name, one)):
                    yield from _lists(one, depth + 1, left, listed=listed, context=context)


def _holds_context(name: object, *, inside: bool) -> bool:
    """Returns whether a field has the text that the questions beside it are about. The `context` of a whole document,
    not `inside` it, may say what the quiz is for."""
    called = spelled(name)
    return role_among(called, {}) == "context" and (inside or called not in ("context", "scenario"))


def _with_context(record: Record, context: Any) -> Record:
    """Returns the record with the text that it is about, unless it has one of its own."""
    return replace(record, values={"context": context, **record.values}) if context else record


def _alone(value: dict[Any, Any], *, inside: bool) -> Record | None:
    """Returns the record of a mapping that is in no list; None if it is not a question.

    `inside`: whether it is within other data, where only options with a key show that a mapping alone is a question.
    """
    record = _record(value)
    if record is None or not record.has_key or record.values["_question"] in ("title", "text"):
        return None
    keyed = {"correct", "index"} & record.values.keys() or any(flag is not None for flag in flags_of(record.options))
    return None if inside and not (record.options and keyed) else record


def _rows_of(value: dict[Any, Any]) -> Any:
    """Returns the records of a mapping whose fields are columns, questions or numbers; empty or None for others."""
    columns = rows_of_columns(value, {name: role_among(spelled(name), {}) for name in value})
    return columns or asking_names(value) or entries_by_number(value)


def _held(entry: dict[Any, Any]) -> Record | None:
    """Returns the record of the only mapping in an entry that is a question, as in `{id: …, data: {question: …}}`."""
    found = [record for one in entry.values() if isinstance(one, dict) and (record := _record(one))]
    return found[0] if len(found) == 1 else None


def _unread(entry: dict[Any, Any]) -> Record | None:
    """Returns an entry that asks nothing, by the first text in it; None if there is none."""
    waiting: list[Any] = [entry]
    while waiting:
        match waiting.pop():
            case str(text) if text.strip():
                return Record({"question": text}, (), (), {}, asks=False)
            case dict(inner):
                waiting += reversed(inner.values())
            case list(inner):
                waiting += reversed(inner)
    return None


_FEW_FIELDS = 3
"""Most fields of an option whose names are unknown."""
_BESIDE_MARK = frozenset((*OPTION_TEXT, *FLAGS, *WRONG_FLAGS, "id", "letter", "key", "feedback", "reason")) - {"answer"}
"""Names of the fields that a marked option has."""


def _offers(name: object, value: Any) -> bool:
    """Returns whether a field holds options, some of them marked: texts, and mappings of a text and a mark."""
    called = spelled(name)
    asks = "question" in (ROLE_OF.get(called), ROLE_OF.get(called.removesuffix("s")))
    if not isinstance(value, list) or len(value) < _FEWEST_OPTIONS or asks:
        return False
    marked = [one for one in value if isinstance(one, dict)]
    if not marked or not all(isinstance(one, dict | str | int | float) for one in value):
        return False
    if all({spelled(key) for key in one} <= _BESIDE_MARK and mark_of(one) is not None for one in marked):
        return True
    # With other names, a text of its own and the only truth value show that these are options.
    offered = options_of(value)[0]
    few = all(len(one) <= _FEW_FIELDS and not any(isinstance(x, list) for x in one.values()) for one in marked)
    return few and len(marked) == len(value) and all(map(option_text, offered)) and None not in flags_of(offered)


def _by_place(value: Any) -> dict[str, Any]:
    """Returns a question that is a list (its text, the texts of its options, numbers of the right ones) as a mapping;
    an empty one for any other value."""
    if isinstance(value, list) and (merged := one_field_each(value)):
        return merged if any(DATA_ROLES.get(spelled(name)) == "question" for name in merged) else {}
    match value:
        case [str(asked), [str(), str(), *_] as options, *rest] if all(isinstance(one, str) for one in options):
            key = rest[0] if rest and isinstance(rest[0], int | list | str) else []
            return {"question": asked, "options": options, "correct": key}
        case [str(asked), dict(options), int() | str() | [_, *_] as key] if len(options) >= _FEWEST_OPTIONS and all(
            isinstance(one, str) for one in options.values()
        ):
            named = {str(one) for one in (key if isinstance(key, list) else [key])}
            if named <= options.keys():
                marked = [{"text": text, "correct": name in named} for name, text in options.items()]
                return {"question": asked, "options": marked}
    return {}


def _record(data: dict[Any, Any]) -> Record | None:
    """Returns the record of a mapping; None if it asks nothing."""
    marked = of_marked_letters(in_one_language(data))
    fields = unnested(by_initials(of_published(of_conversation(of_task(marked)))), DATA_ROLES)
    values, unknown, others = by_roles(
        {name: in_one_text(value, DATA_ROLES.get(name)) for name, value in fields.items()}
    )
    if isinstance(values.get("question"), dict):
        inner = values["question"]
        named = next((inner[key] for key in ("text", "prompt", "stem") if key in inner), "")
        values["question"] = named or in_english(inner)
        unknown |= {f"question {spelled(name)}": text for name, text in inner.items() if text != values["question"]}
    if isinstance(values.get("question"), list) and (parts := joined_parts(values["question"])):
        values["question"] = parts
    if (described := unknown.get("description")) and (_only_titles(values, described) or _described(values, described)):
        values |= {"question": described, "_question": "question"}
        del unknown["description"]
    asked = values.get("question")
    if not isinstance(asked, str) or not asked.strip() or _FILE.fullmatch(asked) or _only_names(values, unknown):
        return None
    _unpack(values, unknown)
    options, letters = options_of(values.get("options"))
    if isinstance(values.get("options"), str) and {"correct", "index"} & values.keys():
        options, letters = lettered_options(values["options"])
    if not options and "options" not in values and (split := _with_options_below(asked, values.get("correct"))):
        values["question"], options, letters = split
    if "correct" not in values and (right := values.pop("right", None)) is not None:
        values["correct"] = right
    if not options and (named := _by_names(unknown)):
        options, letters = named
        unknown = {name: value for name, value in unknown.items() if value not in options}
    elif not options:
        options, letters = _listed(values, unknown) or ((), ())
    options, letters = _with_flags(values, unknown, options, letters)
    if _are_wrong(values, options):
        values["wrong"], options, letters = list(options), (), ()
    keys = tuple((name, value) for name, value in others if isinstance(value, str | int))
    record = Record(values, options, letters, unknown, others=keys)
    # A list of questions alone is read as unanswered ones, but only from a field that is named so.
    return record if record.has_key or values["_question"] in ASKING or _is_task(asked, unknown) else None


def _demanded(answers: Any) -> str:
    """Returns the list of what an answer must name, `[["Bern"], ["Genf", "Genève"]]`, each with the words that are
    accepted for it; empty for other answers."""
    if not isinstance(answers, list) or len(answers) < _FEWEST_OPTIONS:
        return ""
    if not all(isinstance(one, list) and one and all(isinstance(text, str) for text in one) for one in answers):
        return ""
    return "\n".join(f"- {one[0]}" + (f" (or {', '.join(one[1:])})" if one[1:] else "") for one in answers)


_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.(?:tex|md|txt|html?|rst|png|jpe?g|svg|pdf|json|ya?ml)")
"""The path of a file, which has a question elsewhere."""


def _unpack(values: dict[str, Any], unknown: dict[str, Any]) -> None:
    """Brings the options and the key of a record to the usual form: from JSON in a text, from answers that were found
    in a text, from lists of what to name, and from a field `isTrue` beside a statement."""
    if (offered := written_as_json(values.get("options"))) is not values.get("options"):
        values["options"] = offered
        if "correct" in values:
            values["correct"] = written_as_json(values["correct"])
    if "correct" not in values and (accepted := accepted_answers(values.get("options"))) is not None:
        values["correct"], values["_correct"] = accepted, values.pop("_options")
        del values["options"]
    if isinstance(values.get("options"), list):
        # Of `{content: {text: …}, correct: …}`, the text is that of the option.
        values["options"] = [without_wrappers(one) if isinstance(one, dict) else one for one in values["options"]]
    if demanded := _demanded(values.get("correct")):
        values["correct"] = demanded
    if not values.keys() & {"options", "correct"} and isinstance(unknown.get("is true"), bool):
        values["correct"] = unknown.pop("is true")


_LETTERED_LINE = re.compile(r"(?m)^[ \t]*(?:\([Aa]\)[ ]*|[Aa][).][ ]+)(?=\S)")
_ANSWER_LINE = re.compile(r"\n\s*(?:your\s+)?(?:answer|choice)\s*[:?>]*\s*\Z", re.IGNORECASE)
"""What a program prints below the options to ask for a letter."""


def _with_options_below(asked: str, key: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """Returns a question without the lettered lines below it, which are its options where the key is a letter, and
    these; None if it has none."""
    start = _LETTERED_LINE.search(asked) if isinstance(key, str) and LETTER.fullmatch(key.strip()) else None
    if start is None or not asked[: start.start()].strip():
        return None
    options, letters = lettered_options(_ANSWER_LINE.sub("", asked[start.start() :]).strip())
    return (asked[: start.start()].strip(), options, letters) if len(options) > 1 else None


_NUMBERED = ("question number", "question no", "question type")
"""Names of fields that only a question has."""


def _is_task(asked: str, unknown: dict[str, Any]) -> bool:
    """Returns whether a sentence of a text asks or sets a task, and a field beside it says that it is a question."""
    if unknown.keys().isdisjoint(_NUMBERED):
        return False
    lines = [_PART.sub("", line.strip(), count=1) for line in _SENTENCE.split(asked)]
    return any(ends_asking(line) or demands(line) or sets_task(line) for line in lines)


_SENTENCE = re.compile(r"\n|(?<=[.!?])\s+")
_PART = re.compile(r"[(]?(?:[A-Ha-h]|[ivx]{1,4}|\d{1,3})[.)][ ]{1,9}")


def _only_titles(values: dict[str, Any], described: object) -> bool:
    """Returns whether a field `title` only names a question with options, and the description asks."""
    title = values.get("question")
    if values.get("_question") != "title" or not isinstance(title, str) or not values.get("options"):
        return False
    return isinstance(described, str) and ends_asking(described) and not ends_asking(title)


def _only_names(values: dict[str, Any], unknown: dict[str, Any]) -> bool:
    """Returns whether a title names a thing that a text beside it describes: a fault with its solution."""
    described = values.get("_question") == "title" and isinstance(unknown.get("description"), str)
    return described and values.get("_correct") == "solution" and not reads_as_question(str(values["question"]))


def _described(values: dict[str, Any], described: object) -> bool:
    """Returns whether the description asks in a question without a field for it: its options are marked, or a field
    has the key."""
    if "question" in values or not isinstance(described, str) or not reads_as_question(described):
        return False
    marked = any(flag is not None for flag in flags_of(options_of(values.get("options"))[0]))
    return marked or bool(values.get("options") and {"correct", "index"} & values.keys())


_CHOSEN = re.compile(r"\b(?:selected|chosen|visible|hidden|shown|your|user|student|checked|disabled)\b")
"""Words in the name of a field that says something else of each option than whether it is right."""


def _with_flags(
    values: dict[str, Any], unknown: dict[str, Any], options: tuple[Any, ...], letters: tuple[str, ...]
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Returns the options and their letters; where a field beside them says of each whether it is right, with that as
    a mark, and without empty ones."""
    offered = values.get("options") if isinstance(values.get("options"), dict) else options
    unchosen = {name: one for name, one in unknown.items() if not _CHOSEN.search(name)}
    fields = [values["correct"]] if "correct" in values else [] if "index" in values else [*unchosen.values()]
    flagged = [flags for one in fields if (flags := flags_beside(one, offered))]
    if len(flagged) == 1 and len(flagged[0]) == len(options):
        values.pop("correct", None)
        options = tuple(
            {**(option if isinstance(option, dict) else {"text": option}), "correct": right}
            for option, right in zip(options, flagged[0], strict=True)
        )
    given = [at for at, option in enumerate(options) if option is not None and option_text(option) != ""]
    if len(given) < len(options) and all(_is_nothing(one) for at, one in enumerate(options) if at not in given):
        return tuple(options[at] for at in given), tuple(letters[at] for at in given) if letters else ()
    return options, letters


def _is_nothing(option: Any) -> bool:
    """Returns whether an option is only a place for one."""
    return option is None or (isinstance(option, dict) and option.get("text", 0) is None)


def _by_names(unknown: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[str, ...]] | None:
    """Returns the options of fields whose names differ by a letter or number: `option_a`, `option_b`."""
    texts = [name for name, value in unknown.items() if isinstance(value, str | int | float) and str(value).strip()]
    places = {name: at for name in texts if (at := place_of(name)) is not None}
    if len(places) < _FEWEST_OPTIONS:
        places = {texts[at]: place for at, place in option_places(texts).items()}
    if len(places) < _FEWEST_OPTIONS:
        return None
    names = sorted(places, key=lambda name: places[name])
    numbers = tuple(found[0] if (found := re.search(r"\d+$", name)) else "" for name in names)
    letters = tuple("abcdefghijklmnopqrstuvwxyz"[places[name]] for name in names)
    return tuple(unknown[name] for name in names), numbers if all(numbers) else letters


def _listed(values: dict[str, Any], unknown: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[str, ...]] | None:
    """Returns the options in a list with another name, if marks or the key show that it holds them."""
    key = values.get("correct")
    if isinstance(key, list) and any(flag is not None for flag in flags_of(options_of(key)[0])):
        return options_of(values.pop("correct"))
    right = {plain(text).casefold() for text in right_texts(key)} if key is not None else set()
    found, listed = [], []
    for value in unknown.values():
        options, letters = options_of(value)
        texts = {plain(option_text(option)).casefold() for option in options}
        marked = any(flag is not None for flag in flags_of(options))
        if len(options) >= _FEWEST_OPTIONS and all(texts) and (marked or (right and right <= texts)):
            found.append((options, letters))
        elif len(options) >= _FEWEST_OPTIONS and all(isinstance(one, str) for one in options):
            listed.append((options, letters))
    if not found and len(listed) == 1 and _names_place(values, len(listed[0][0])):
        return listed[0]
    return found[0] if len(found) == 1 else None


def _names_place(values: dict[str, Any], count: int) -> bool:
    """Returns whether a field that is called a key, not an answer, has the number of one of several options."""
    name = "index" if "index" in values else "correct"
    place = values.get(name)
    called = ROLE_OF.get(str(values.get(f"_{name}"))) in ("correct", "index")
    return called and isinstance(place, int) and not isinstance(place, bool) and 0 <= place <= count


def _are_wrong(values: dict[str, Any], options: tuple[Any, ...]) -> bool:
    """Returns whether `alternatives` are the other options: the right one, given in words, is not among them."""
    if values.get("_options") != "alternatives" or "wrong" in values or not options:
        return False
    key, texts = values.get("correct"), {plain(option_text(option)).casefold() for option in options}
    right = right_texts(key) if isinstance(key, list | str) else []
    worded = right and not any(LETTER.fullmatch(one) or one.isdecimal() for one in right)
    return bool(worded) and not any(plain(one).casefold() in texts for one in right)
