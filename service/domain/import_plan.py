"""Which question of a document is which question of the bank, so that ids and histories outlive edits. Pure.

An id an author wrote is the question's name, whatever the question says. An id made of a prompt is a guess: it is held
against what the question says before it is believed, and where a prompt was edited the question keeps its first id.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from questions.generated_choices import SUFFIX, TAG, generate_choices
from questions.ids import slug
from questions.model import Bank, Question, as_data
from questions.overview import POSITION_FIELDS
from questions.similarity import Index, fingerprint_of, similarity_of

GENERATED_TAG = TAG
"""Tag of a question that was generated from a document's prose."""
SAME_ID_SIMILARITY = 0.4
"""With an id its prompt made, a question less like the one that has it is another."""
SAME_PLACE_SIMILARITY = 0.7
"""So alike to one that vanished, and in its place, a question is that one, its prompt edited."""


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question of a bank as it stands in the database."""

    id: int
    key: str
    current: int
    """Number of the version asked now."""
    digest: str
    retired: bool
    place: Mapping[str, object] = field(default_factory=dict)
    """As `place_of` said when it was imported last."""
    aliases: tuple[str, ...] = ()
    """Ids its prompt makes, or made, beside its own."""
    generated: bool = False
    """Whether it was made of another question of the bank."""


def digest_of(question: Question) -> str:
    """What `question` says, in 64 hex digits: the same wherever in the document it stands."""
    data = {name: value for name, value in as_data(question).items() if name not in POSITION_FIELDS}
    data["code_blocks"] = [{**block, "line": 0} for block in data["code_blocks"]]
    # Fields younger than the first banks: left out while empty, so that no question changes by our learning a field.
    if not data["draw"]:
        del data["draw"]
    if data["task"] and not data["task"]["driver"]:
        del data["task"]["driver"]
    return sha256(json.dumps(data, sort_keys=True, ensure_ascii=True))


def sha256(text: str) -> str:
    """In hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def place_data(question: Question) -> dict[str, object]:
    """Where a document has `question`, JSON-ready; the document by its bare name."""
    place = dataclasses.asdict(question.place)
    source = PurePath(question.place.source).name
    return {**place, "source": source, "section": list(question.section), "number": question.number}


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """A document's questions, each with the bank's question it is."""

    pairs: tuple[tuple[Question, StoredQuestion | None], ...]
    """In the document's order. Each question bears the id it has in the bank; with None it is new."""
    document_ids: tuple[str, ...]
    """The ids the document gives them, in the same order."""


class QuestionMatcher:
    """Pairs a document's questions with a bank's, the surest first; a question and a row are paired once."""

    def __init__(self, questions: Sequence[Question], stored: Sequence[StoredQuestion]) -> None:
        self._questions = questions
        self._stored = stored
        self._keys = {old.key: old for old in stored}
        self._names = {**{alias: old for old in stored for alias in old.aliases}, **self._keys}
        self._found: dict[int, StoredQuestion] = {}
        self._taken: set[int] = set()
        for number, question in enumerate(questions):
            old = self._names.get(question.id)
            if old and digest_of(dataclasses.replace(question, id=old.key)) == old.digest:
                self._pair(number, old)

    def unresolved(self) -> list[StoredQuestion]:
        """Those of the bank whose text `match` needs to see: all that were not found unchanged under their id."""
        return [old for old in self._stored if old.id not in self._taken]

    def match(self, texts: Mapping[int, Question]) -> MatchedQuestions:
        """Each question with what it is; `texts` has what the `doubtful` ones say, by their row's number."""
        made = [old for old in self.unresolved() if _has_derived_id(old, texts[old.id])]
        self._by_authors_id({old.id for old in made})
        self._by_text(made, texts)
        self._by_made_id(made, texts)
        self._by_place(made, texts)
        return self._result()

    def _open(self) -> list[tuple[int, Question]]:
        return [(number, one) for number, one in enumerate(self._questions) if number not in self._found]

    def _pair(self, number: int, old: StoredQuestion) -> None:
        if old.id not in self._taken:
            self._found[number] = old
            self._taken.add(old.id)

    def _by_authors_id(self, made: Collection[int]) -> None:
        for number, question in self._open():
            old = self._keys.get(question.id)
            if old and not (old.id in made and is_derived_id(question.id, question.prompt)):
                self._pair(number, old)

    def _by_text(self, made: Iterable[StoredQuestion], texts: Mapping[int, Question]) -> None:
        saying: dict[str, list[StoredQuestion]] = defaultdict(list)
        for old in sorted(made, key=lambda old: old.retired, reverse=True):
            saying[_content_digest(texts[old.id])].append(old)
        for number, question in self._open_made():
            if same := saying[_content_digest(question)]:
                self._pair(number, same.pop())

    def _by_made_id(self, made: Iterable[StoredQuestion], texts: Mapping[int, Question]) -> None:
        ids = {old.id for old in made} - self._taken
        for number, question in self._open_made():
            old = self._names.get(question.id)
            if old and old.id in ids and similarity_of(question, texts[old.id]) >= SAME_ID_SIMILARITY:
                self._pair(number, old)

    def _by_place(self, made: Iterable[StoredQuestion], texts: Mapping[int, Question]) -> None:
        vanishing = [old for old in made if old.id not in self._taken and not old.retired]
        best = _mutual_best(self._open_made(), vanishing, texts) if vanishing else {}
        before = _neighbours(sorted((old for old in self._stored if not old.retired), key=_position))
        again = True
        # A question found gives its neighbours a neighbour.
        while again:
            again = False
            for number, old in best.items():
                if number not in self._found and self._in_place(number, old, before[old.id]):
                    self._pair(number, old)
                    again = True

    def _in_place(self, number: int, old: StoredQuestion, beside: tuple[int | None, int | None]) -> bool:
        question = self._questions[number]
        numbered = question.number and [question.number, list(question.section)] == [
            old.place.get("number"),
            old.place.get("section"),
        ]
        return bool(numbered) or self._row_at(number - 1) == beside[0] or self._row_at(number + 1) == beside[1]

    def _row_at(self, number: int) -> int | None:
        """The row of the question at that place; None beyond the ends, -1 where it is not known."""
        if not 0 <= number < len(self._questions):
            return None
        return self._found[number].id if number in self._found else -1

    def _open_made(self) -> list[tuple[int, Question]]:
        return [(number, one) for number, one in self._open() if is_derived_id(one.id, one.prompt)]

    def _result(self) -> MatchedQuestions:
        used = {*self._keys, *(question.id for question in self._questions)}
        pairs = []
        for number, question in enumerate(self._questions):
            old = self._found.get(number)
            key = old.key if old else _free_id(question, used) if question.id in self._keys else question.id
            used.add(key)
            pairs.append((dataclasses.replace(question, id=key), old))
        return MatchedQuestions(tuple(pairs), tuple(question.id for question in self._questions))


def _mutual_best(
    questions: Iterable[tuple[int, Question]], olds: Iterable[StoredQuestion], texts: Mapping[int, Question]
) -> dict[int, StoredQuestion]:
    """Of the questions that are alike enough to a row, each with it, where each is the other's nearest."""
    asked, rows = dict(questions), {old.id: old for old in olds}
    prints = [((number, False), fingerprint_of(one)) for number, one in asked.items()]
    index = Index([*prints, *(((id_, True), fingerprint_of(texts[id_])) for id_ in rows)])
    nearest = {
        (key, is_row): next(
            (
                like.key[0]
                for like in index.similar_to((key, is_row))
                if like.key[1] != is_row and like.score >= SAME_PLACE_SIMILARITY
            ),
            -1,
        )
        for is_row, keys in ((False, asked), (True, rows))
        for key in keys
    }
    return {
        number: rows[nearest[number, False]]
        for number, question in asked.items()
        if nearest[number, False] in rows
        and nearest[nearest[number, False], True] == number
        and texts[nearest[number, False]].kind == question.kind
    }


def _neighbours(olds: Sequence[StoredQuestion]) -> dict[int, tuple[int | None, int | None]]:
    ids: list[int | None] = [None, *(old.id for old in olds), None]
    return {old.id: (ids[at], ids[at + 2]) for at, old in enumerate(olds)}


def _position(old: StoredQuestion) -> tuple[str, int, int]:
    line = old.place.get("line")
    return str(old.place.get("source", "")), line if isinstance(line, int) else 0, old.id


def _content_digest(question: Question) -> str:
    return digest_of(dataclasses.replace(question, id=""))


def is_derived_id(id_: str, prompt: str) -> bool:
    """Whether `id_` is one that the reader makes of that prompt; then the author probably gave none."""
    return re.fullmatch(re.escape(slug(prompt)) + r"(-[0-9a-f]{6})?(-\d+)?", id_) is not None


def _has_derived_id(old: StoredQuestion, text: Question) -> bool:
    return any(is_derived_id(name, text.prompt) for name in (old.key, *old.aliases))


def _free_id(question: Question, used: set[str]) -> str:
    """An id like the document's for a question that is not the one that has it."""
    wanted = f"{question.id}-{_content_digest(question)[:6]}"
    found, count = wanted, 2
    while found in used:
        found, count = f"{wanted}-{count}", count + 1
    return found


def is_generated(question: Question) -> bool:
    """Whether nobody wrote the question as it is asked."""
    return TAG in question.tags


def can_generate_choices(bank: Bank) -> bool:
    """Whether choices are made of the bank's prose: its author wrote none of its questions for us."""
    return "native" not in bank.dialects


def add_generated_choices(matched: MatchedQuestions, made_before: Iterable[StoredQuestion]) -> MatchedQuestions:
    """The questions with the choices made of them, each after its own; an id says which choice it was before.

    Ids come from the ids in the bank, so that a choice outlives an edited prompt as its question does.
    """
    known = {old.key: old for old in made_before}
    used = {question.id for question, _ in matched.pairs}
    generated = generate_choices(question for question, _ in matched.pairs)
    made = {choice.id: choice for choice in generated.choices if choice.id not in used}
    pairs: list[tuple[Question, StoredQuestion | None]] = []
    document_ids: list[str] = []
    for (question, old), id_ in zip(matched.pairs, matched.document_ids, strict=True):
        pairs.append((question, old))
        document_ids.append(id_)
        if choice := made.get(question.id + SUFFIX):
            pairs.append((choice, known.get(choice.id)))
            document_ids.append(choice.id)
    return MatchedQuestions(tuple(pairs), tuple(document_ids))
