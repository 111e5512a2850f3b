r"""Builds the tree of a LaTeX document: its environments, and the items that commands begin.

    \begin{questions}
      \question Which call copies?   % an item, up to the next one
        \begin{choices} … \end{choices}
    \end{questions}

Text that no environment holds is in the tree as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.formats.latex.text import LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.formats.latex.text import Tex

TITLE = (
    r"(?:exercise|question|problem|task|aufgabe|übung|frage|exercice|ejercicio|pregunta|exercício|questão|esercizio"
    r"|domanda|zadanie|задача|вопрос|упражнение)[ ~]*(?:\\#|№)?\d{1,3}\b"
)
"""Pattern of a title that counts a question: `Exercise 3`."""
_TOKEN = re.compile(
    r"\\(?:(?P<do>begin|end)[ ]?\{(?P<env>[A-Za-z]{1,40}\*?)\}"
    r"|(?P<item>question|titledquestion|bonusquestion|part|bonuspart|subpart|subsubpart|choice|CorrectChoice"
    r"|correctchoice|item|task)(?![A-Za-z@])"
    r"|(?P<section>chapter|section|subsection|subsubsection)\*?(?=[\[{])"
    r"|(?P<break>newpage|clearpage|pagebreak)(?![A-Za-z@]))"
)
_ARGUMENT = re.compile(r"[ \t]{0,20}\n?[ \t]{0,99}\[([^\[\]]{0,300})\]")
EXERCISES = frozenset(
    (
        *("exercise", "ex", "exer", "exercice", "problem", "prob", "question", "uebung", "aufgabe", "ejercicio"),
        *("exercicio", "esercizio", "task"),
    )
)
"""Environments that are a question."""
SOLUTIONS = frozenset(
    (
        *("solution", "solutionorbox", "solutionorlines", "solutionordottedlines", "solutionbox", "sol", "soln"),
        *("answer", "ans", "solutions", "loesung", "corrige", "solucion"),
    )
)
"""Environments that answer one."""
PARTS = frozenset(("parts", "subparts", "subsubparts"))
CHOICES = frozenset(("choices", "checkboxes", "oneparchoices", "oneparcheckboxes", "tasks"))
_TITLED = re.compile(rf"{TITLE}[ .:)–—-]*([^{{}}]{{0,200}})", re.IGNORECASE)
"""Title of a section that is a question."""
_SOLUTION_TITLE = re.compile(
    r"(?:solution|answer|lösung|antwort|corrigé|solución|respuesta|solução|resposta|soluzione|risposta|rozwiązanie"
    r"|решение|ответ)s?[ ]*\d{0,3}[.:]?",
    re.IGNORECASE,
)
PROOF_ANSWERS = re.compile(
    r"\\begin\{proof\}[ ]?\[[ ]?(?:solution|answer|lösung|antwort|corrigé|solución|respuesta|solução|resposta|soluzione"
    r"|risposta|rozwiązanie|решение|ответ)s?[ .:]{0,2}\]",
    re.IGNORECASE,
)
"""A proof with another title, which shows that the proofs of a document answer: `\\begin{proof}[Answer]`."""
_ITEM_OF: dict[str, frozenset[str]] = {
    "item": frozenset(LISTS),
    "task": frozenset(("tasks",)),
    "part": frozenset(("parts",)),
    "bonuspart": frozenset(("parts",)),
    "subpart": frozenset(("subparts",)),
    "subsubpart": frozenset(("subsubparts",)),
    "choice": CHOICES,
    "CorrectChoice": CHOICES,
    "correctchoice": CHOICES,
}
"""Environments in which a command begins an item; `\\question` may be anywhere."""
_QUESTIONS = ("question", "titledquestion", "bonusquestion")
_BODY = "\\begin{document}"
_DEEPEST = 20
"""Maximum depth of environments; what is deeper is text."""
_PART_TITLE = "part title"
LEVELS = (_PART_TITLE, "chapter", "section", "subsection", "subsubsection")
"""Names of titles, highest first."""


@dataclass(slots=True)
class Node:
    """An environment or an item in one, with the texts and the nodes inside."""

    name: str
    start: int
    """Offset of the command."""
    inner: int
    end: int = 0
    label: str = ""
    """The argument in brackets."""
    content: list[Node | tuple[int, int]] = field(default_factory=list)
    command: bool = False
    """Whether a command such as `\\item` begins this, and not an environment."""

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes inside, in order."""
        return (one for one in self.content if isinstance(one, Node))


def walk(node: Node) -> Iterator[Node]:
    """Yields all nodes in a node, in order."""
    for one in node.nodes:
        yield one
        yield from walk(one)


def is_question(node: Node) -> bool:
    """Returns whether an environment or a command alone makes a question of what is inside."""
    return node.name in EXERCISES or (node.command and node.name in _QUESTIONS)


@dataclass(slots=True)
class _Builder:
    """Builds the tree of a document from its commands."""

    tex: Tex
    stack: list[Node]
    at: int
    """End of what is in the tree."""
    answering: bool = False
    """Whether proofs are answers."""

    def take(self, found: re.Match[str]) -> int:
        """Takes a command into the tree if it is part of the structure. Returns where to continue."""
        start, end = found.span()
        if found["do"] == "begin":
            label = _ARGUMENT.match(self.tex.text, end)
            end = label.end() if label else end
            if len(self.stack) <= _DEEPEST:
                title = label[1] if label else ""
                answers = found["env"] == "proof" and self.answering
                self._open(Node("solution" if answers else found["env"], start, end, label=title))
        elif found["do"]:
            name = "solution" if found["env"] == "proof" and self.answering else found["env"]
            depth = next((at for at in range(len(self.stack) - 1, 0, -1) if self.stack[at].name == name), 0)
            if depth:
                self._close(depth, start)
                self.at = end
        elif found["item"] == "part" and (place := self._part_title(end)):
            end = place[1] + 1
            self._section(Node(_PART_TITLE, start, place[0], end, label=self.tex.text[slice(*place)]))
        elif found["item"]:
            end = self._item(found["item"], start, end)
        elif found["break"]:
            self._leaf(Node("break", start, start, end))
        elif place := self.tex.argument(end, len(self.tex.text)):
            end = place[1] + 1
            self._section(Node(found["section"], start, place[0], end, label=self.tex.text[slice(*place)]))
        return end

    def finish(self, end: int) -> None:
        """Closes what is open at the end of the document."""
        self._close(1, end)
        self._text(end)

    def _open(self, node: Node) -> None:
        self._text(node.start)
        self.at = node.inner
        self.stack[-1].content.append(node)
        self.stack.append(node)

    def _close(self, depth: int, end: int) -> None:
        self._text(end)
        self.at = end
        while len(self.stack) > depth:
            self.stack.pop().end = end

    def _text(self, end: int) -> None:
        if end > self.at:
            self.stack[-1].content.append((self.at, end))

    def _item(self, name: str, start: int, end: int) -> int:
        if name in _QUESTIONS:
            asked = [at for at, node in enumerate(self.stack) if node.command and node.name in _QUESTIONS]
            depth = asked[0] if asked else len(self.stack)
        else:
            inside = (at for at in range(len(self.stack) - 1, 0, -1) if self.stack[at].name in _ITEM_OF[name])
            depth = next(inside, -1) + 1
        if not depth or depth > _DEEPEST:
            return end
        label = _ARGUMENT.match(self.tex.text, end)
        end = label.end() if label else end
        self._close(depth, start)
        self._open(Node(name, start, end, label=label[1] if label else "", command=True))
        return end

    def _part_title(self, end: int) -> tuple[int, int] | None:
        """Returns the place of the title behind `\\part`; None for a part of a question."""
        inside = any(one.name == "parts" or is_question(one) for one in self.stack)
        return None if inside else self.tex.argument(end, len(self.tex.text))

    def _section(self, node: Node) -> None:
        asked = next((at for at, one in enumerate(self.stack) if one.command and one.name in _QUESTIONS), 0)
        if asked and _SOLUTION_TITLE.fullmatch(node.label):
            self._close(asked + 1, node.start)
            self._open(Node("solution", node.start, node.end))
            return
        if asked:
            self._close(asked, node.start)
        if titled := _TITLED.fullmatch(node.label):
            self._open(Node("titledquestion", node.start, node.end, label=titled[1], command=True))
        else:
            self._leaf(node)

    def _leaf(self, node: Node) -> None:
        self._text(node.start)
        self.at = node.end
        self.stack[-1].content.append(node)


def tree_of(tex: Tex) -> Node:
    """Returns the document as a tree of environments and items."""
    body, last = tex.text.find(_BODY), tex.text.find("\\end{document}")
    last = last if last > body else len(tex.text)
    root = Node("document", 0, body + len(_BODY) if body >= 0 else 0, last)
    builder = _Builder(tex, [root], root.inner, answering=PROOF_ANSWERS.search(tex.text) is not None)
    at = root.inner
    while (found := _TOKEN.search(tex.text, at, last)) is not None:
        block = tex.block(found.start())
        if block or tex.in_argument(found.start()):
            at = max(block[4] if block else 0, found.end())
        else:
            at = builder.take(found)
    builder.finish(last)
    return root
