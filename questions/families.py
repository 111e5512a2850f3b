"""Question families: turns one run of a family's `draw` program into questions. Runs nothing itself.

A family is a `choice` or `value` question with a `Draw` part, a program that defines `draw(rng)`. The sandbox runs it,
and then each variant's program by `facts.FAMILY_PROGRAM` to get its key: torch decides what is right, not the author.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from questions.model import Option, is_literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.model import Question


ENTRY = "_dailygrad_draw"
"""Function of `variants_program` to call with `(seed, first, count)`."""
_FEWEST = 2
"""Minimum number of wrong options with `few`; three otherwise."""
_MOST = 4
"""Wrong options of a drawn question."""

_VARIANTS = """

def _dailygrad_draw(seed, first, count):
    import random

    import torch

    def plain(value):
        if isinstance(value, tuple):
            return tuple(plain(item) for item in value)
        return value

    def named(value):
        return f"`{value}`" if isinstance(value, torch.dtype) else plain(value)

    def drawing(number):
        drawn = draw(random.Random(f"{seed}/{number}"))
        if not isinstance(drawn, dict) or not isinstance(drawn.get("program"), str):
            raise TypeError("it must return a dict with a `program`")
        names = {"__name__": "drawn"}
        torch.manual_seed(0)
        try:
            exec(drawn["program"], names)
            key = named(eval(drawn.get("ask", "ans"), names))
        except Exception as problem:
            key = f"raises `{type(problem).__name__}`"
        return {**drawn, "wrong": [(named(value), said) for value, said in drawn.get("wrong", [])], "key": key}

    return [drawing(number) for number in range(first, first + count)]
"""


class InvalidVariant(ValueError):
    """Raised when the result of `draw(rng)` is not a valid question. The message is for the family's author."""


def variants_program(family: Question) -> str:
    """Returns the program whose `ENTRY`, called with a seed, a first number and a count, returns that many variants.

    A variant depends only on the seed and its number. It contains:

    - `program`: the program that is shown and run;
    - `ask`: the expression whose value is the key, `ans` by default. For an exception the key is "raises `Name`";
    - `wrong`: pairs of a value and the misconception behind it (for a `choice`);
    - `prompt`, `why`: replacements for the family's own texts, optional;
    - `few`: True if two wrong options are enough;
    - `key`: the value that torch computed. Text is shown as Markdown, any other value as code; a dtype is text.
    """
    return family.draw + _VARIANTS


def variant_questions(family: Question, drawings: Iterable[Mapping[str, Any]]) -> Iterator[Question]:
    """Yields the questions of variants, skipping repetitions and variants with too few different wrong options.

    Raises InvalidVariant for a variant that no seed could make valid.
    """
    seen: set[str] = set()
    for drawing in drawings:
        question = variant_question(family, drawing)
        if question is not None and question.id not in seen:
            seen.add(question.id)
            yield question


def variant_question(family: Question, drawing: Mapping[str, Any]) -> Question | None:
    """Returns the question of one variant, or None if the variant has to be skipped. Raises InvalidVariant."""
    program, ask, key = _text(drawing, "program"), str(drawing.get("ask", "ans")), drawing.get("key")
    if not _is_plain(key):
        raise InvalidVariant(
            f"the key of `{ask}` has type {type(key).__name__}: use a number, a string, a tuple or a list"
        )
    prompt = str(drawing.get("prompt") or family.prompt)
    question = dataclasses.replace(
        family,
        id=f"{family.id}-{_digest(prompt, program, ask)}",
        prompt=prompt,
        program=program,
        why=str(drawing.get("why") or family.why),
        proof=_proof(program, ask, key),
        draw="",
    )
    if family.kind == "value":
        if not is_literal(repr(key)):
            raise InvalidVariant(f"the key {key!r} is not a Python literal")
        return dataclasses.replace(question, answer=repr(key))
    options = _options(question.id, key, drawing.get("wrong", ()))
    fewest = _FEWEST if drawing.get("few") else _FEWEST + 1
    return dataclasses.replace(question, options=options) if len(options) > fewest else None


def shown(value: object) -> str:
    """Returns a key or a wrong value as Markdown: text unchanged, anything else as code."""
    return value if isinstance(value, str) else f"`{value!r}`"


def _options(id_: str, key: object, wrong: Iterable[Any]) -> tuple[Option, ...]:
    """Returns the right option and the first wrong options that differ from it and from each other.

    Their ids follow an order that depends on the variant, because chats carry ids where a member can read them.
    """
    options = {shown(key): ""}
    for pair in wrong:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], str) or not pair[1]:
            raise InvalidVariant(f"`wrong` must contain pairs of a value and a misconception, not {pair!r}")
        text = shown(pair[0])
        if text not in options and len(options) <= _MOST:
            options[text] = pair[1]
    texts = sorted(options, key=lambda text: _digest(id_, text))
    return tuple(
        Option(letter, text, right=text == shown(key), reason=options[text])
        for letter, text in zip("abcde", texts, strict=False)
    )


def _proof(program: str, ask: str, key: object) -> str:
    """Returns a program that computes the key again (see `questions.facts`)."""
    if isinstance(key, str) and key.startswith("raises `"):
        body = "\n".join(f"    {line}" if line else "" for line in f"{program.rstrip()}\n{ask}".split("\n"))
        return f'try:\n{body}\nexcept Exception as error:\n    answer = f"raises `{{type(error).__name__}}`"'
    return f"{program.rstrip()}\n\nanswer = {ask}"


def _text(drawing: Mapping[str, Any], name: str) -> str:
    text = drawing.get(name)
    if not isinstance(text, str) or not text.strip():
        raise InvalidVariant(f"`draw(rng)` returned no `{name}`")
    return text


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, bool | int | float | complex | str)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:10]
