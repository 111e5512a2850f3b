"""Recognizes exams: questions that end in options or parts and are not answered, so that the text below is theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.patterns.options.search import may_hold_options, options_in
from questions.wording.imperatives import sets_task
from questions.wording.stems import asks_to_choose, ends_asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.model import Option

_FEWEST = 3
"""Fewest questions that end in lettered lines."""
_FEWEST_LINES = 3
"""Fewest lettered lines at the end of a question."""
_BREAK = re.compile(r"(?:[ \t]*</?(?:br|div|p|center)\b[^<>]{0,80}>)+[ \t]*", re.IGNORECASE)
"""HTML behind the last option that shows nothing."""
_COMMAND = re.compile(
    r"(?:compute|calculate|derive|determine|draw|evaluate|explain|find|justify|plot|prove|show|sketch|solve|verify|write"
    r"|calcula|comprueba|define|deriva|determina|dibuja|encuentra|escr[ií]be(?:lo)?|eval[uú]a|explica|grafica|halla"
    r"|plantea|resuelve|verifica|calcule|determine|encontre|escreva|esboce|mostre|resolva|verifique"
    r"|calculez|déterminez|dessinez|écrivez|justifiez|montrez|résolvez|trouvez|vérifiez"
    r"|berechne|bestimme|bestätige|begründe|skizziere|zeichne|zeige|löse"
    r"|calcola|determina|disegna|dimostra|risolvi|trova|вычислите|докажите|найдите|определите|постройте|решите)(?!\w)",
    re.IGNORECASE,
)


def is_exam(questions: Sequence[tuple[str, str, bool]]) -> bool:
    """Returns whether at least half of some questions, and no fewer than three, end in lettered lines below text that
    does not answer them.

    `questions`: the line that asks, the text below it, and whether a label marks an answer; one that does makes
    the others answered too.
    """
    if len(questions) < _FEWEST or any(labeled for _, _, labeled in questions):
        return False
    ending = sum(not ends_asking(asked) and _ends_in_letters(text) for asked, text, _ in questions)
    return ending >= _FEWEST and ending * 2 >= len(questions)


def _ends_in_letters(text: str) -> bool:
    """Returns whether a text ends in at least three lettered lines, none marked as right."""
    if not may_hold_options(text):
        return False
    lines = text.split("\n")
    run = options_in(lines)
    if run is None or run.kind != "letter" or len(run.options) < _FEWEST_LINES:
        return False
    below = (line for line in lines[run.end :] if line.strip())
    return not any(option.marked for option in run.options) and all(map(_BREAK.fullmatch, below))


def are_parts(options: Sequence[Option]) -> bool:
    """Returns whether most lettered lines ask or demand something themselves."""
    return sum(_asks(one) for one in options) * 2 > len(options)


def are_tasks_below(prompt: str, options: Sequence[Option]) -> bool:
    """Returns whether all lettered lines below a text that does not ask, such as `Consider the matrix A.`, ask or set a
    task, so that they are its parts; a key makes them options."""
    if any(option.right for option in options) or ends_asking(prompt) or asks_to_choose(prompt):
        return False
    return not (_OPEN.search(prompt) or _CHOOSES.search(prompt)) and all(
        _asks(one) or sets_task(one.text) for one in options
    )


_CHOOSES = re.compile(
    r"\b(?:choose|select|pick|check|mark|tick|identify|elige|elija|selecciona|escolha|assinale|marque|choisissez|cochez"
    r"|wähle|kreuze|scegli|seleziona|выберите|отметьте|wybierz|zaznacz|kies|pilih)",
    re.IGNORECASE,
)
"""Words of a text that tells to choose among what is below it."""


def _asks(option: Option) -> bool:
    return ends_asking(option.text) or _COMMAND.match(option.text) is not None


_OPEN = re.compile(r"(?:[:：…]|\.{3}|_{3,})\W*$|(?:\b(?:to|is|are|you|should|must|will))\W*$", re.IGNORECASE)
"""The end of a text that an option completes."""


_EACH = re.compile(
    r"(?:^|[.:;)\]][ ]+|\n)(?:for each|pour chac|per ciascun|para cada|für jede|для кажд)(?!\w* (?:of the )?"
    r"following (?:statement|question|sentence))",
    re.IGNORECASE,
)

_EACH_ASKED = re.compile(
    r"\w for each (?:one )?of (?:the following|these)(?! (?:statement|question|sentence))(?: \w+){1,4}\?", re.IGNORECASE
)
"""A question about each of what is below it."""


def concerns_each(prompt: str, options: Sequence[Option]) -> bool:
    """Returns whether a text sets a task for each of the lettered lines below it, `for each of the matrices`, so that
    they are its parts; a key makes them options."""
    if any(option.right for option in options):
        return False
    stated = not ends_asking(prompt) and _EACH.search(prompt) is not None
    return stated or _EACH_ASKED.search(prompt) is not None
