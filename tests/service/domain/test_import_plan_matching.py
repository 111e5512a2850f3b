"""Questions keep their ids and histories through edits and moves, and different questions never share any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.generated_choices import SUFFIX
from questions.ids import with_ids
from questions.model import CodeBlock, Option, Question, SourceLocation
from service.domain.import_plan import (
    QuestionMatcher,
    StoredQuestion,
    add_generated_choices,
    digest_of,
    is_derived_id,
    place_data,
)
from tests.service.scenes import question

PROMPTS = (
    "What does `x.t()` return, a view or a copy?",
    "Why does `x.view(-1)` fail on a transposed tensor?",
    "How many bytes does an element of a `float16` tensor take?",
    "Which memory format do convolutions prefer on a GPU?",
    "When does the loader copy its workers' memory?",
)


def written(*prompts: str, **more: object) -> tuple[Question, ...]:
    """Returns a document of questions without ids."""
    made = [
        Question("", "open", prompt, SourceLocation("a.md", 10 * number, 10 * number + 5), f"As it is with {prompt}")
        for number, prompt in enumerate(prompts, 1)
    ]
    return with_ids([replace(one, **more) for one in made])  # type: ignore[arg-type]


def kept(*questions: Question, retired: Sequence[str] = ()) -> tuple[list[StoredQuestion], dict[int, Question]]:
    """Returns the same questions as stored in a bank, with row ids from 100."""
    stored = [
        StoredQuestion(number, one.id, 1, digest_of(one), one.id in retired, place_data(one))
        for number, one in enumerate(questions, 100)
    ]
    return stored, {old.id: one for old, one in zip(stored, questions, strict=True)}


def rows(document: Sequence[Question], bank: tuple[list[StoredQuestion], dict[int, Question]]) -> list[int | None]:
    """Returns the matched row of each question of the document, or None for a new one."""
    stored, texts = bank
    matched = QuestionMatcher(document, stored).match(texts)
    keys = [question.id for question, _ in matched.pairs]
    assert len(set(keys)) == len(keys)
    assert all(question.id == old.key for question, old in matched.pairs if old)
    assert list(matched.document_ids) == [one.id for one in document]
    return [old.id if old else None for _, old in matched.pairs]


def test_a_prompt_edited_a_little_in_its_place_keeps_its_row() -> None:
    edited = list(PROMPTS)
    edited[1] = "Why does `x.view(-1)` raise on a transposed tensor?"
    after = written(*edited)
    assert after[1].id != written(*PROMPTS)[1].id
    assert rows(after, kept(*written(*PROMPTS))) == [100, 101, 102, 103, 104]


def test_a_retired_question_keeps_no_row_for_what_stands_in_its_place() -> None:
    edited = list(PROMPTS)
    edited[1] = "Why does `x.view(-1)` raise on a transposed tensor?"
    before = written(*PROMPTS)
    assert rows(written(*edited), kept(*before, retired=[before[1].id])) == [100, None, 102, 103, 104]


def test_neighbors_edited_together_keep_their_rows() -> None:
    edited = [
        prompt.replace("?", ", in short?").replace("Why does", "Tell why").replace("many", "many whole")
        for prompt in PROMPTS
    ]
    assert rows(written(*edited), kept(*written(*PROMPTS))) == [100, 101, 102, 103, 104]


def test_another_name_or_number_makes_another_question() -> None:
    edited = [prompt.replace("float16", "bfloat16") for prompt in PROMPTS]
    assert rows(written(*edited), kept(*written(*PROMPTS))) == [100, 101, None, 103, 104]


def test_what_is_alike_but_stands_elsewhere_is_another_question() -> None:
    after = written(*PROMPTS[1:4], "What does `x.t()` return: a view, a copy?", PROMPTS[4])
    assert rows(after, kept(*written(*PROMPTS))) == [101, 102, 103, None, 104]


def test_what_is_alike_and_has_its_made_id_is_the_same_wherever_it_stands() -> None:
    """An id that is made of the prompt stays when other parts of the question change."""
    before = written(*PROMPTS)
    edited = replace(before[0], why="A view: only its strides are swapped.")
    assert is_derived_id(edited.id, edited.prompt)
    assert rows([*before[1:4], edited, before[4]], kept(*before)) == [101, 102, 103, 100, 104]


def test_the_last_question_stays_the_last_when_the_one_before_it_is_another() -> None:
    edited = [*PROMPTS[:3], "Is `torch.compile` needed here?", PROMPTS[4].replace("memory", "whole memory")]
    assert rows(written(*edited), kept(*written(*PROMPTS))) == [100, 101, 102, None, 104]


def test_a_prompt_edited_in_one_file_of_a_folder_keeps_its_row() -> None:
    """The places of one file are beside each other, wherever the lines of another file are."""
    first = [replace(one, place=replace(one.place, source="a.md")) for one in written(*PROMPTS[:3])]
    second = [
        replace(one, place=SourceLocation("b.md", at, at))
        for one, at in zip(written(*PROMPTS[3:]), (15, 25), strict=True)
    ]
    edited = [*first, *second]
    prompt = "Why does `x.view(-1)` raise on a transposed tensor?"
    edited[1] = replace(written(prompt)[0], place=edited[1].place, answer=first[1].answer)
    for before in ([*first, *second], [*second, *first]):
        ids = {one.prompt: row for row, one in enumerate(before, 100)}
        expected = [ids[one.prompt] for one in (*first, *second)]
        assert rows(edited, kept(*before)) == expected


def test_what_is_alike_and_has_its_number_is_the_same_wherever_it_stands() -> None:
    bank = kept(*written(*PROMPTS, number="7"))
    after = written(*PROMPTS[1:4], "What does `x.t()` return: a view, a copy?", PROMPTS[4], number="7")
    assert rows(after, bank) == [101, 102, 103, 100, 104]


def test_what_stays_beside_its_like_takes_no_row_from_it() -> None:
    after = written(*PROMPTS[:2], "Why does `x.view(-1)` raise on a transposed tensor?", *PROMPTS[2:])
    assert rows(after, kept(*written(*PROMPTS))) == [100, 101, None, 102, 103, 104]


def test_an_authors_id_identifies_the_question() -> None:
    before = [replace(one, id=f"own-{number}") for number, one in enumerate(written(*PROMPTS))]
    renamed = [replace(before[0], id="mine"), replace(before[1], prompt="Else?"), *before[2:]]
    assert rows(renamed, kept(*before)) == [None, 101, 102, 103, 104]


def test_an_authors_id_that_reads_as_if_made_of_the_new_prompt_is_the_authors() -> None:
    before = question("strides", prompt="What is the step of a tensor in memory?")
    after = question("strides", prompt="Strides?", answer="Quite another", options=())
    assert is_derived_id(after.id, after.prompt)
    assert rows([after], kept(before)) == [100]


def test_equal_prompts_keep_their_rows_when_one_is_removed() -> None:
    def printing(*programs: str) -> tuple[Question, ...]:
        return with_ids(
            Question(
                "",
                "output",
                "What does this print?",
                SourceLocation("a.md", 9 * at, 9 * at),
                str(at),
                program=program,
                number=str(at),
            )
            for at, program in enumerate(programs, 1)
        )

    bank = kept(*printing("print(1)", "for x in (3, 4): print(x)", "print(sum([2, 2]))"))
    left = [
        replace(one, answer=answer)
        for one, answer in zip(printing("for x in (3, 4): print(x)", "print(sum([2, 2]))"), "23", strict=True)
    ]
    assert rows(left, bank) == [101, 102]


def test_an_unchanged_question_keeps_its_row_when_its_generated_id_and_its_place_change() -> None:
    """Of two equal prompts one goes, so the id generated for the other one changes, and it moves as well."""
    first, second = (
        Question("", "open", PROMPTS[0], SourceLocation("a.md", at, at), answer) for at, answer in ((1, "A"), (5, "B"))
    )
    last = Question("", "open", PROMPTS[1], SourceLocation("a.md", 9, 9), "C")
    before, after = with_ids([first, second, last]), with_ids([last, second])
    assert after[1].id != before[1].id
    assert rows(after, kept(*before)) == [102, 101]


def test_a_generated_choice_follows_its_question_and_keeps_its_row() -> None:
    terms = {
        "hash table": "A hash table maps each key to a bucket by a number computed from it.",
        "mutex": "A mutex is a lock that only one thread can hold at any time.",
        "decorator": "A decorator is a callable that takes another callable and returns a replacement.",
        "coroutine": "A coroutine can be suspended at an `await` and resumed later by the event loop.",
        "checksum": "A checksum detects damaged files by summing up every byte twice.",
        "tuple": "A tuple never changes after it was made, so that dictionaries accept it.",
    }
    document = with_ids(
        Question("", "open", f"What is a {term}?", SourceLocation("a.md", at, at), answer)
        for at, (term, answer) in enumerate(terms.items(), 1)
    )
    first = add_generated_choices(QuestionMatcher(document, []).match({}), [])
    choices = [one for one, _ in first.pairs if one.generated]
    assert len(choices) >= 4
    by_id = {one.id: at for at, (one, _) in enumerate(first.pairs)}
    assert [by_id[one.id] - by_id[one.id.removesuffix(SUFFIX)] for one in choices] == [1] * len(choices)
    assert first.document_ids == tuple(by_id)
    again = add_generated_choices(QuestionMatcher(document, []).match({}), kept(*choices)[0])
    assert [old.id for _, old in again.pairs if old] == list(range(100, 100 + len(choices)))


def printing_question(program: str, answer: str) -> Question:
    return replace(
        question("what-does-this-print", prompt="What does this print?", options=()), program=program, answer=answer
    )


def test_a_generated_id_is_ignored_if_another_question_has_it() -> None:
    before = printing_question("import torch\nprint(torch.ones(3).numel())", "3")
    after = printing_question("for word in 'a b'.split():\n    print(word * 2, end='')", "aabb")
    assert rows([after], kept(before)) == [None]
    stored, texts = kept(before)
    (pair,) = QuestionMatcher([after], stored).match(texts).pairs
    assert pair[0].id.startswith("what-does-this-print-")
    again = kept(before, pair[0], retired=[before.id])
    assert rows([after], again) == [101]


def test_a_generated_id_is_numbered_until_it_is_free() -> None:
    before = printing_question("import torch\nprint(torch.ones(3).numel())", "3")
    after = printing_question("for word in 'a b'.split():\n    print(word * 2, end='')", "aabb")
    stored, texts = kept(before)
    ((free, _),) = QuestionMatcher([after], stored).match(texts).pairs
    taken = [
        replace(question(name, prompt=f"Which hook is number {number}?"), id=name)
        for number, name in enumerate((free.id, f"{free.id}-2"))
    ]
    stored, texts = kept(before, *taken)
    ((numbered, old),) = QuestionMatcher([after], stored).match(texts).pairs
    assert (numbered.id, old) == (f"{free.id}-3", None)


def test_an_alias_is_as_good_as_the_id() -> None:
    (before,), (after,) = written(PROMPTS[0]), written("Is `x.t()` a view or a copy, and why?")
    stored = replace(kept(before)[0][0], digest=digest_of(replace(after, id=before.id)), aliases=(after.id,))
    assert rows([after], ([stored], {})) == [100]


def test_a_question_that_returns_to_a_document_keeps_its_id() -> None:
    bank = kept(*written(*PROMPTS), retired=[written(PROMPTS[2])[0].id])
    assert rows(written(*PROMPTS), bank) == [100, 101, 102, 103, 104]


documents = st.lists(st.sampled_from(PROMPTS), max_size=7).map(lambda prompts: written(*prompts))


@given(documents, documents)
def test_every_question_has_one_row_at_most_and_every_row_one_question(
    before: tuple[Question, ...], after: tuple[Question, ...]
) -> None:
    found = [row for row in rows(after, kept(*before)) if row]
    assert len(set(found)) == len(found)


@given(documents)
def test_the_same_document_is_all_found(document: tuple[Question, ...]) -> None:
    stored, _ = kept(*document)
    assert QuestionMatcher(document, stored).unresolved() == []
    assert rows(document, (stored, {})) == [old.id for old in stored]


@given(st.permutations(PROMPTS))
def test_another_order_is_the_same_questions(prompts: list[str]) -> None:
    assert rows(written(*prompts), kept(*written(*PROMPTS))) == [100 + PROMPTS.index(prompt) for prompt in prompts]


class TestDigest:
    """The digest of a question, wherever it is in the document."""

    def test_it_is_the_same_after_edits_around_the_question(self) -> None:
        before = question(code_blocks=(CodeBlock("x", "python", 4),), number="1", section=("Basics",))
        after = question(
            code_blocks=(CodeBlock("x", "python", 44),),
            number="7",
            section=("More",),
            place=SourceLocation("new.md", 40, 50),
        )
        assert digest_of(before) == digest_of(after)

    @pytest.mark.parametrize(
        "change",
        [
            {"prompt": "Else?"},
            {"answer": "That"},
            {"level": "senior"},
            {"topic": "autograd"},
            {"options": (Option("a", "This", False), Option("b", "That", True))},
            {"code_blocks": (CodeBlock("x = 1", "python", 4),)},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_the_digest_differs_if_the_question_or_the_key_differs(self, change: dict[str, object]) -> None:
        assert digest_of(question(**change)) != digest_of(question())  # type: ignore[arg-type]
