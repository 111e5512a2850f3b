"""What of a card is drawn, and the card with its pictures: the one place that decides it, for every chat.

A board, a distribution and a member's weeks become a picture with their numbers in a quiet line, for a reader of the
text alone and for the chat's search; a formula that Unicode says badly takes the place of its words, now its alt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.core.cards import Bar, Bars, Block, Card, Picture, Small, Table, Text
from bot.core.looks import bar_words, line_of, short
from bot.core.markup import escape, parse
from bot.core.markup.mathtext import to_unicode
from bot.core.markup.read import outer_parts
from bot.core.markup.tree import Blocks, Math, Paragraph
from bot.pictures.drawings import (
    MOST_PLACES,
    BoardDrawing,
    Choice,
    DistributionDrawing,
    Drawing,
    FormulaDrawing,
    Place,
    ProgressDrawing,
    Week,
)
from bot.pictures.formulas import formulas_in, reads_badly

_MOST_CHOICES = 10
_NAME, _LABEL = 60, 80
_LTR = "\N{LEFT-TO-RIGHT MARK}"
"""After a stranger's words: what follows them stays where it is, though they run from right to left."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a card: the blocks that say it, and where it can be drawn its drawing and the blocks around that."""

    words: tuple[Block, ...]
    drawing: Drawing | None = None
    alt: str = ""
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()


def drawings_of(card: Card) -> tuple[Drawing, ...]:
    """All there is to draw of a card, each once."""
    return tuple(dict.fromkeys(part.drawing for part in _parts(card) if part.drawing is not None))


def with_pictures(card: Card, drawn: Mapping[Drawing, bytes]) -> Card:
    """The card with what was drawn; the rest of it stays in words."""
    blocks: list[Block] = []
    for part in _parts(card):
        png = drawn.get(part.drawing) if part.drawing is not None else None
        blocks += part.words if png is None else (*part.above, Picture(png, part.alt), *part.below)
    return replace(card, blocks=tuple(blocks))


def _parts(card: Card) -> Iterator[_Part]:
    for block in card.blocks:
        match block:
            case Text(markdown) if "$" in markdown or "\\" in markdown:
                yield from _text(markdown)
            case Bars(rows) if 0 < len(rows) <= _MOST_CHOICES:
                yield _distribution(block)
            case Table(shows="board", rows=rows) if rows:
                yield _board(block, card.title)
            case Table(shows="weeks", rows=rows) if rows:
                yield _progress(block)
            case _:
                yield _Part((block,))


def _board(table: Table, title: str) -> _Part:
    places = tuple(
        Place(rank, line_of(name, _NAME), int(points), right, streak, at == table.mine)
        for at, (rank, name, points, _, right, streak) in enumerate(table.rows[:MOST_PLACES])
    )
    rest = f" … and {len(table.rows) - MOST_PLACES} more" if len(table.rows) > MOST_PLACES else ""
    said = [
        f"rank {place.rank}, {place.name}{_LTR}{' (you)' if place.mine else ''}: {place.points:,} points, "
        f"{place.right} right, streak {place.streak}"
        for place in places
    ]
    line = " · ".join(f"{place.rank}. {escape(place.name)}{_LTR} {place.points:,}" for place in places)
    heading = line_of(title, 150)
    return _Part(
        (table,),
        BoardDrawing(places),
        f"{heading}. {'; '.join(said)}.",
        below=(Small(f"Points: {line}{rest}"),),
    )


def _distribution(bars: Bars) -> _Part:
    choices = tuple(Choice(short(row.label, _LABEL), row.count, row.share, row.mark) for row in bars.rows)
    line = " · ".join(map(_bar_line, bars.rows))
    said = [f"{_numbers(row)} {short(row.label, _LABEL)}{_LTR}" for row in bars.rows]
    return _Part((bars,), DistributionDrawing(choices), f"Answers: {'; '.join(said)}", below=(Small(line),))


def _numbers(row: Bar) -> str:
    return bar_words(row)[0]


def _bar_line(row: Bar) -> str:
    numbers, label = bar_words(row)
    return f"{numbers} {escape(label)}{_LTR}"


def _progress(table: Table) -> _Part:
    weeks = tuple(_week(*row) for row in table.rows)
    said = [
        f"{week.label}: {week.points:,} points, {week.answers} answers" + (f", {share} right" if week.answers else "")
        for week, (*_, share) in zip(weeks, table.rows, strict=True)
    ]
    line = " · ".join(f"{escape(week.label)} {week.points:,}" for week in weeks)
    return _Part(
        (table,), ProgressDrawing(weeks), f"Points by week. {'; '.join(said)}.", below=(Small(f"Points: {line}"),)
    )


def _week(label: str, points: str, answers: str, right: str) -> Week:
    return Week(label, int(points), int(answers), right)


def _text(markdown: str) -> Iterator[_Part]:
    """The text as it is, or cut so that each formula that wants a picture has it in its place."""
    hard = [math for math in formulas_in(parse(markdown).blocks) if reads_badly(math)]
    if not hard:
        yield _Part((Text(markdown),))
        return
    held = ""
    for source, blocks in outer_parts(markdown):
        math = _alone(blocks)
        found = [math] if math else [one for one in formulas_in(blocks) if reads_badly(one)]
        if not found or (math and not reads_badly(math)):
            held += source
            continue
        if held.strip():
            yield _Part((Text(held),))
        held = ""
        above = () if math else (Text(source),)
        yield _Part((Text(source),), _drawing_of(found), _formula_alt(found), above)
    if held.strip():
        yield _Part((Text(held),))


def _alone(blocks: Blocks) -> Math | None:
    """The formula, where a part is nothing else."""
    match blocks:
        case (Paragraph((Math() as math,)),):
            return math
    return None


def _drawing_of(found: list[Math]) -> FormulaDrawing:
    return FormulaDrawing(tuple(dict.fromkeys(math.source.strip() for math in found)))


def _formula_alt(found: list[Math]) -> str:
    said = [f"{'; '.join(to_unicode(math.source).split(chr(10)))} (in LaTeX: {math.source.strip()})" for math in found]
    return f"Formula{'s' if len(said) > 1 else ''}: {'; '.join(said)}"
