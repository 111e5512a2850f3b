"""Matches the questions of a document with those of a bank, so that ids and histories survive edits. Pure.

An author's id identifies a question even if its contents change. An id derived from a prompt is a guess: it counts only
if the contents are similar, and a question keeps its first id when its prompt is edited.
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

from questions.generated_choices import SUFFIX, generate_choices
from questions.ids import slug
from questions.model import Bank, Question, as_data
from questions.overview import POSITION_FIELDS
from questions.similarity import Index, fingerprint_of, similarity_of
from service.domain.option_ids import keep_option_ids

SAME_ID_SIMILARITY = 0.4
"""Similarity below which a question with the same derived id is a different question."""
SAME_PLACE_SIMILARITY = 0.7
"""Similarity from which a question in the place of a missing one is that question with an edited prompt."""

_ID_SUFFIX = re.compile(r"(-[0-9a-f]{6})?(-\d+)?")
"""Matches what the reader adds to an id that is taken."""


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question of a bank in the database."""

    id: int
    key: str
    current: int
    """Number of the version asked now."""
    digest: str
    retired: bool
    place: Mapping[str, object] = field(default_factory=dict)
    """`place_data` at its latest import."""
    aliases: tuple[str, ...] = ()
    """Other ids that its prompt makes or made."""
    generated: bool = False
    """Whether it was generated from another question of the bank."""


def digest_of(question: Question) -> str:
    """Returns a digest of the content of `question`, 64 hex digits, independent of its place in the document."""
    data = {name: value for name, value in as_data(question).items() if name not in POSITION_FIELDS}
    data["code_blocks"] = [{**block, "line": 0} for block in data["code_blocks"]]
    return sha256(json.dumps(data, sort_keys=True, ensure_ascii=True))


def sha256(text: str) -> str:
    """Returns the SHA-256 of `text` in hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def place_data(question: Question) -> dict[str, object]:
    """Returns where the document has `question`, JSON-ready, with the document's bare name."""
    place = dataclasses.asdict(question.place)
    source = PurePath(question.place.source).name
    return {**place, "source": source, "section": list(question.section), "number": question.number}


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """A document's questions, each with the stored question it matches."""

    pairs: tuple[tuple[Question, StoredQuestion | None], ...]
    """In document order. Each question has the id it has in the bank; None marks a new question."""
    document_ids: tuple[str, ...]
    """The ids that the document gives them, in the same order."""


class QuestionMatcher:
    """Matches a document's questions with stored ones, surest matches first; each is matched at most once."""

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
        """Returns stored questions whose content `match` needs: all that were not found unchanged under their id."""
        return [old for old in self._stored if old.id not in self._taken]

    def match(self, texts: Mapping[int, Question]) -> MatchedQuestions:
        """Returns each question with its match. `texts` has the content of the `unresolved` ones by row id."""
        made = [old for old in self.unresolved() if _has_derived_id(old, texts[old.id])]
        self._by_authors_id({old.id for old in made})
        self._by_text(made, texts)
        self._by_made_id(made, texts)
        self._by_place(made, texts)
        return self._result(texts)

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
        before = _neighbors(sorted((old for old in self._stored if not old.retired), key=_position))
        again = True
        # Each match gives its neighbors a known neighbor.
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
        """Returns the row id matched with the question at that index: None beyond the ends, -1 if unmatched."""
        if not 0 <= number < len(self._questions):
            return None
        return self._found[number].id if number in self._found else -1

    def _open_made(self) -> list[tuple[int, Question]]:
        return [(number, one) for number, one in self._open() if is_derived_id(one.id, one.prompt)]

    def _result(self, texts: Mapping[int, Question]) -> MatchedQuestions:
        used = {*self._keys, *(question.id for question in self._questions)}
        pairs = []
        for number, question in enumerate(self._questions):
            old = self._found.get(number)
            key = old.key if old else _free_id(question, used) if question.id in self._keys else question.id
            used.add(key)
            named = dataclasses.replace(question, id=key)
            pairs.append((keep_option_ids(named, texts[old.id]) if old and old.id in texts else named, old))
        return MatchedQuestions(tuple(pairs), tuple(question.id for question in self._questions))


def _mutual_best(
    questions: Iterable[tuple[int, Question]], olds: Iterable[StoredQuestion], texts: Mapping[int, Question]
) -> dict[int, StoredQuestion]:
    """Returns pairs of questions and rows that are similar enough, where each is the other's nearest."""
    questions_by_index, rows = dict(questions), {old.id: old for old in olds}
    prints = [((number, False), fingerprint_of(one)) for number, one in questions_by_index.items()]
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
        for is_row, keys in ((False, questions_by_index), (True, rows))
        for key in keys
    }
    return {
        number: rows[nearest[number, False]]
        for number, question in questions_by_index.items()
        if nearest[number, False] in rows
        and nearest[nearest[number, False], True] == number
        and texts[nearest[number, False]].kind == question.kind
    }


def _neighbors(olds: Sequence[StoredQuestion]) -> dict[int, tuple[int | None, int | None]]:
    ids: list[int | None] = [None, *(old.id for old in olds), None]
    return {old.id: (ids[at], ids[at + 2]) for at, old in enumerate(olds)}


def _position(old: StoredQuestion) -> tuple[str, int, int]:
    line = old.place.get("line")
    return str(old.place.get("source", "")), line if isinstance(line, int) else 0, old.id


def _content_digest(question: Question) -> str:
    return digest_of(dataclasses.replace(question, id=""))


def is_derived_id(id_: str, prompt: str) -> bool:
    """Returns whether the reader derives `id_` from that prompt, so that the author probably wrote none."""
    made = slug(prompt)
    return id_.startswith(made) and _ID_SUFFIX.fullmatch(id_, len(made)) is not None


def _has_derived_id(old: StoredQuestion, text: Question) -> bool:
    return any(is_derived_id(name, text.prompt) for name in (old.key, *old.aliases))


def _free_id(question: Question, used: set[str]) -> str:
    """Returns an unused id for a question whose own id belongs to another."""
    wanted = f"{question.id}-{_content_digest(question)[:6]}"
    found, count = wanted, 2
    while found in used:
        found, count = f"{wanted}-{count}", count + 1
    return found


def can_generate_choices(bank: Bank) -> bool:
    """Returns whether choices can be generated from the bank's prose: not if it was written in the native dialect."""
    return "native" not in bank.dialects


def add_generated_choices(matched: MatchedQuestions, made_before: Iterable[StoredQuestion]) -> MatchedQuestions:
    """Adds generated choices, each after the question it was generated from.

    Their ids derive from the ids in the bank, so that a choice survives an edited prompt as its question does.
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
