r"""Reads exams and exercise sheets in LaTeX: the `exam` class, exercise environments, and lists that ask.

    \question[2] Which call copies?
    \begin{choices}
      \choice view
      \CorrectChoice clone
    \end{choices}

Commands that are not known are named by their lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_open, add_short, add_unanswered
from questions.formats.latex.bold_numbers import add_numbered, seem_numbered
from questions.formats.latex.cards import add_cards, seem_cards
from questions.formats.latex.labels import LABEL_COMMAND, has_labels, part_at_labels
from questions.formats.latex.options import take_options
from questions.formats.latex.packages import in_exam_class
from questions.formats.latex.text import ASKS_WHO, BLANK, LABELED, LISTS, MARK, POINTS, Tex
from questions.formats.latex.titles import (
    have_numbers,
    lines_ask,
    mostly_ask,
    question_of,
    sections_ask,
    seems_question,
)
from questions.formats.latex.tree import (
    CHOICES,
    EXERCISES,
    LEVELS,
    PARTS,
    PROOF_ANSWERS,
    SOLUTIONS,
    TITLE,
    is_question,
    tree_of,
    walk,
)
from questions.source import Finding
from questions.wording.imperatives import announces_tasks, sets_task
from questions.wording.stems import asks_to_choose, demands, ends_asking

if TYPE_CHECKING:
    from questions.formats.latex.tree import Node
    from questions.source import Source

NAME = "latex"

_DOCUMENT = re.compile(r"[ \t]*\\(?:documentclass\b|begin\{(?:document|questions)\})")
_ASKING = re.compile(
    r"\\(?:question|item)(?![A-Za-z])|\\begin\{(?:exercises?|ex|exer|exercice|problem|prob|question|uebung|aufgabe"
    rf"|ejercicio|exercicio|esercizio|task)\*?\}}|\\(?:sub){{0,2}}section\*?\{{{TITLE}",
    re.IGNORECASE,
)
_COUNTED = ("enumerate", "compactenum", "enumerate*", "inparaenum")
_ABOVE = 500
"""Characters above a list that may announce tasks."""
_WITH_POINTS = re.compile(
    r"[\s\\]{0,99}(?:\\label\{[^{}]{0,99}\}\s{0,99})?(?:\\([A-Za-z]{1,20})\{[^{}]{0,20}\}|[(\[]\d{1,3}[ ]?(?:\\?%|p))"
)
_LETTERS = re.compile(r"[(\[]?(?:A\b|label=[^,]{0,20}\\Alph)|.{0,40}\\Alph")
_KEY = re.compile(r"\**\(?([A-Ha-h])\)?[.)]?\**")
_LAST_BLANK = re.compile(r"(?<=[?.:])\s*____\.?$|\n\n____$")
_ANSWERED = re.compile(
    r"\\(?:(?:answer|ans|soln?|solution)[a-z]*\{|correct[a-z]*\{|begin\{(?:solution|answer|choices|checkboxes|oneparc))"
)
_PROOF = re.compile(r"\\begin\{proof\}")
_LONGEST_START = 2_000
"""Length of an item's beginning that shows whether it asks, characters."""
_FEWEST_WORDS = 4
_SHORT = 80
"""Maximum length of a short answer, characters."""
_SHARED = 20
"""Maximum length of what parts share, as a multiple of the document's length."""


def sniff(source: Source) -> bool:
    """Returns whether a text is a LaTeX document with lists, exercises, questions, titles that ask or cards."""
    if not any(map(_DOCUMENT.match, source.lines)):
        return _is_part_of_exam(source)
    lines = in_exam_class(source.lines)
    return lines_ask(lines) or any(map(_ASKING.search, lines)) or seem_cards(lines) or seem_numbered(lines)


def _is_part_of_exam(source: Source) -> bool:
    """Returns whether a file that a document includes has a `\\question` with choices or a solution, a list whose items
    mostly ask, or sections that do."""
    text = "\n".join(in_exam_class(source.lines)) if PurePath(source.name).suffix.lower() == ".tex" else ""
    if sections_ask(text) or (_OPENS.search(text) is not None and _ANSWERED.search(text) is not None):
        return True
    items = [found[1] for line in source.lines if (found := _ITEM.match(line))]
    asking = sum(ends_asking(one.rstrip("\\ ")) or demands(one) or sets_task(one) for one in items)
    asked = sum(ends_asking(one.rstrip("\\ ")) for one in items)
    return asking >= _FEWEST_ASKING and asking >= _MOSTLY * len(items) and asked * 2 >= len(items)


_TITLE_KEY = re.compile(r"\s*(?:sub)?title\s*=\s*")
"""The name of an option with the title of a question: `[subtitle = Views]`."""
_OPENS = re.compile(r"\\question|\\begin\{(?:exercises?|exer|problem|question|uebung|aufgabe|exercice|ejercicio)\*?\}")
"""The start of a question in a part of a document, which solutions show to be one."""
_ITEM = re.compile(r"[ \t]*\\item\b[ \t]{0,99}(?:\[[^\]]{0,40}\])?[ \t]{0,99}(\S.*)")
_FEWEST_ASKING = 3
_MOSTLY = 0.8
"""Share of the items of all lists in a part of a document that ask or set a task."""


def read(source: Source) -> ImportDraft:
    """Reads all questions of a document; findings name what is left out."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    tex = Tex(in_exam_class(source.lines))
    if not (add_cards(draft, tex) or add_numbered(draft, tex)):
        _Reader(draft, tex).read()
    return draft


@dataclass(slots=True)
class _Ask:
    """The parts of one question, as they are read."""

    node: Node
    context: str
    section: tuple[str, ...]
    texts: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    """Texts behind a page break, which belong to the question only if more of it follows."""
    options: list[tuple[str, bool]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """Short answers in the text."""
    solutions: list[str] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)
    parts: int = 0
    last: int = 0
    """Offset of the end."""


class _Reader:
    """Reads the tree of one document."""

    def __init__(self, draft: ImportDraft, tex: Tex) -> None:
        self.draft = draft
        self.tex = tex
        self.section: tuple[str, ...] = ()
        self.last: _Ask | None = None
        """The latest question, which a solution below it answers."""
        self.labeled = has_labels(tex.text)
        """Whether bold letters or words part questions from answers."""
        self.proofs = PROOF_ANSWERS.search(tex.text) is not None
        """Whether proofs are answers."""
        self.shared = 0
        self.asked: list[int] = []
        """Lines that look like questions and are not read as such."""

    def read(self) -> None:
        """Adds all questions to the draft."""
        root = tree_of(self.tex)
        nodes = list(walk(root))
        sections = [one for one in nodes if one.name in LEVELS]
        level = "" if any(map(is_question, nodes)) else self._asking_level(sections)
        if level:
            self._titles(sections, level, root.end)
        else:
            self._container(root)
        self._finish()
        self._name_asked()

    def _asking_level(self, sections: list[Node]) -> str:
        """Returns the level of sections whose titles mostly ask; empty if there is none."""
        for level in LEVELS:
            if mostly_ask([self._title(one) for one in sections if one.name == level]):
                return level
        return ""

    def _titles(self, sections: list[Node], level: str, end: int) -> None:
        """Reads the sections whose titles ask, with the text below as the answer; the others are named."""
        rank = LEVELS.index(level)
        above = [one for one in sections if LEVELS.index(one.name) <= rank]
        numbered = have_numbers([self._title(one) for one in above])
        for node, after in zip(above, [*(one.start for one in above[1:]), end], strict=True):
            title = self._title(node)
            self._finish()
            if node.name != level:
                self.section = (plain(title),)
            elif asked := question_of(title, numbered=numbered):
                self.last = _Ask(node, "", self.section, texts=[asked], last=after)
                answer = self._text((node.end, after), self.last)
                self.last.solutions += [answer] if answer else []
            elif seems_question(title, numbered=numbered):
                self.asked.append(self.tex.line(node.start))

    def _title(self, node: Node) -> str:
        return self.tex.convert(*self._label(node)).text

    def _container(self, node: Node) -> None:
        """Reads what is not part of a question."""
        following = iter((*list(node.nodes)[1:], None))
        for inner in node.content:
            if isinstance(inner, tuple):
                self._name_text(inner)
                continue
            after = next(following)
            solved = after is not None and after.name in SOLUTIONS
            if inner.name in LEVELS:
                self.section = (plain(self.tex.convert(*self._label(inner)).text),)
            elif inner.name in SOLUTIONS and not inner.command:
                self._solution(inner)
            elif is_question(inner):
                self._ask(inner, "", solved)
            elif inner.name in PARTS or (inner.name in LISTS and self._list_asks(inner, listed=True)):
                below = inner.name in LISTS and self._answered_below(inner)
                for item in inner.nodes:
                    if not ASKS_WHO.match(self.tex.text, item.inner, item.end):
                        self._ask(item, "", solved=False)
                        if below and self.last is not None and self.last.node is item:
                            _take_below(self.last)
            else:
                if inner.name in LISTS:
                    self._name_items(inner)
                self._container(inner)

    def _label(self, node: Node) -> tuple[int, int]:
        return node.inner, node.end - 1

    def _solution(self, node: Node) -> None:
        text = self.tex.convert(node.inner, node.end).text
        if self.last and text:
            self.last.solutions.append(text)
            self.last.last = node.end

    def _asks(self, item: Node, *, announced: bool = False) -> bool:
        """Returns whether an item of a list asks: by its words, its points or the answer in it. `announced`: whether
        the text above announces tasks."""
        if self._is_answered(item):
            return True
        points = _WITH_POINTS.match(self.tex.text, item.inner, item.end)
        if points and (points[1] is None or POINTS.fullmatch(points[1])):
            return True
        text = self.tex.convert(item.inner, min(item.end, item.inner + _LONGEST_START)).text
        return demands(text) or (announced and sets_task(text)) or any(map(ends_asking, text.split("\n")))

    def _is_answered(self, node: Node) -> bool:
        """Returns whether an answer or options are inside."""
        if _ANSWERED.search(self.tex.text, node.inner, node.end):
            return True
        if self.proofs and _PROOF.search(self.tex.text, node.inner, node.end):
            return True
        return self.labeled and LABEL_COMMAND.search(self.tex.text, node.inner, node.end) is not None

    def _list_asks(self, node: Node, *, listed: bool) -> bool:
        """Returns whether the items of a list ask. `listed`: whether it is below a heading, not in a question."""
        items = list(node.nodes)
        counted = listed or node.name in _COUNTED
        above = "".join((*self.section[:1], self.tex.text[max(node.start - _ABOVE, 0) : node.start]))
        announced = listed and node.name == "enumerate" and announces_tasks(above)
        asking = sum(self._asks(one, announced=announced) if counted else self._is_answered(one) for one in items)
        fewest = len(items) / (4 if announced and self.section and announces_tasks(self.section[0]) else 2)
        return asking > 0 and asking >= fewest

    def _answered_below(self, node: Node) -> bool:
        """Returns whether in nearly each item of a list, a first paragraph asks and the others answer it."""
        texts = [self.tex.convert(one.inner, one.end).text for one in node.nodes if not self._is_answered(one)]
        return len(texts) >= _FEWEST_ASKING and sum(map(bool, map(_below, texts))) >= _NEARLY_ALL * len(texts)

    def _name_items(self, node: Node) -> None:
        """Notes the items that ask in a list whose items are not questions."""
        self.asked += [self.tex.line(item.start) for item in node.nodes if self._asks(item)]

    def _name_text(self, place: tuple[int, int]) -> None:
        """Notes the lines outside questions that ask, and those that begin as `\\textbf{Question 1}`."""
        at = place[0]
        for line in self.tex.text[slice(*place)].split("\n"):
            asks = LABELED.match(line) or (self.labeled and LABEL_COMMAND.search(line)) or self._ends_asking(line)
            if self.tex.block(at) is None and asks:
                self.asked.append(self.tex.line(at))
            at += len(line) + 1

    def _ends_asking(self, line: str) -> bool:
        return ends_asking(line.rstrip(" \\}")) and len(line.split()) >= _FEWEST_WORDS

    def _name_asked(self) -> None:
        """Adds a finding for each line that looks like a question and was not read as one; a single one with all lines
        if nothing was read."""
        source = self.draft.source
        lines = list(dict.fromkeys(self.asked))
        help = "write it as `\\question`, in an environment such as `exercise`, or in a list that asks"
        if not self.draft.questions:
            named = f"; these lines look like questions: {', '.join(map(str, lines))}" if lines else ""
            note = f"the whole document was read as study text{named}"
            self.draft.findings.append(
                Finding("Q005", "note", "no questions recognized", source.span(1), note=note, help=help)
            )
            return
        message, note = "this looks like a question but was not read as one", "it was read as study text"
        self.draft.findings += [
            Finding("Q006", "warning", message, source.span(line), note=note, help=help, skipped=True) for line in lines
        ]

    def _ask(self, node: Node, context: str, solved: bool) -> None:
        """Reads a question, or each of its parts. `solved`: whether one solution below it is for all of it."""
        ask = _Ask(node, context, self.section, last=node.end)
        if node.label and (node.name in EXERCISES if not node.command else not node.label.isdecimal()):
            ask.texts.append(f"**{plain(_TITLE_KEY.sub('', node.label, count=1))}**")
        self._gather(node, ask, solved or any(one.name in SOLUTIONS for one in node.nodes))
        self._take_labeled(ask)
        if ask.held:
            ask.last = next(one.start for one in node.nodes if one.name == "break")
            self._name_text((ask.last, node.end))
        if not ask.parts or ask.options or ask.answers or ask.solutions:
            self._finish()
            self.last = ask

    def _take_labeled(self, ask: _Ask) -> None:
        """Takes the answers behind bold labels out of the text of a question."""
        if self.labeled:
            asked, answer = part_at_labels("\n\n".join(text for text in ask.texts if text.strip()))
            if answer:
                ask.texts, ask.solutions = [asked], [*ask.solutions, answer]

    def _gather(self, node: Node, ask: _Ask, solved: bool) -> None:
        broken = False
        for piece in node.content:
            texts = ask.held if broken else ask.texts
            if isinstance(piece, tuple):
                texts.append(self._text(piece, ask))
            elif piece.name == "break":
                broken = True
            elif broken and not self._goes_on(piece, solved):
                texts.append(self._text((piece.start, self._behind(piece)), ask))
            elif piece.name not in LEVELS:
                # What follows belongs to the question, and so does the text before it.
                ask.texts += ask.held
                ask.held, broken = [], False
                self._part(piece, ask, solved)

    def _goes_on(self, node: Node, solved: bool) -> bool:
        """Returns whether an environment belongs to the question before a page break."""
        return node.name in CHOICES or node.name in SOLUTIONS or self._holds_parts(node, solved)

    def _text(self, place: tuple[int, int], ask: _Ask) -> str:
        read = self.tex.convert(*place)
        ask.answers += read.answers
        ask.unread += read.unread
        return read.text

    def _part(self, node: Node, ask: _Ask, solved: bool) -> None:
        """Reads an environment in a question."""
        items = list(node.nodes)
        if node.name in CHOICES:
            ask.options += [(self._option(one, ask), one.name.lower() == "correctchoice") for one in items]
        elif node.name in SOLUTIONS and not node.command:
            text = self._text((node.inner, node.end), ask)
            ask.solutions += [text] if text else []
        elif self._holds_parts(node, solved):
            self._parts(node, ask)
        elif node.name in LISTS and (_LETTERS.match(node.label) or asks_to_choose("\n".join(ask.texts))):
            ask.options += [(self._option(one, ask), False) for one in items]
        elif not items or node.name in LISTS or node.name in PARTS:
            ask.texts.append(self._text((node.start, self._behind(node)), ask))
        else:
            self._gather(node, ask, solved)

    def _behind(self, node: Node) -> int:
        """Returns the offset behind an environment with its end."""
        closing = f"\\end{{{node.name}}}"
        return node.end + len(closing) if self.tex.text.startswith(closing, node.end) else node.end

    def _option(self, item: Node, ask: _Ask) -> str:
        for inner in item.nodes:
            if inner.name in SOLUTIONS:
                self._part(inner, ask, solved=False)
        places = [one for one in item.content if isinstance(one, tuple)]
        return "\n\n".join(self._text(place, ask) for place in places).strip()

    def _holds_parts(self, node: Node, solved: bool) -> bool:
        """Returns whether the items of an environment are questions of their own. If one solution is for all of them,
        they are not, unless each has an answer."""
        if node.name in EXERCISES:
            return True
        if node.name not in PARTS and not (node.name in LISTS and self._list_asks(node, listed=False)):
            return False
        return not solved or any(map(self._is_answered, node.nodes))

    def _parts(self, node: Node, ask: _Ask) -> None:
        self._take_labeled(ask)
        context = "\n\n".join(text for text in (ask.context, *ask.texts) if text)
        for item in [node] if node.name in EXERCISES else node.nodes:
            ask.parts += 1
            self.shared += len(context)
            if self.shared > _SHARED * len(self.tex.text) + 100_000:
                place = self.tex.line(item.start), self.tex.line(item.end)
                self.draft.add_skipped("the parts of a question share too much text", "shorten it", place)
            else:
                self._ask(item, context, solved=False)

    def _finish(self) -> None:
        """Adds the latest question."""
        ask, self.last = self.last, None
        if ask is None:
            return
        end = ask.last
        while end > ask.node.start and self.tex.text[end - 1].isspace():
            end -= 1
        lines = self.tex.line(ask.node.start), self.tex.line(max(end - 1, ask.node.start))
        prompt = "\n\n".join(text for text in (ask.context, *ask.texts) if text.strip())
        if self.draft.accepts(*lines, len(prompt) + sum(map(len, ask.solutions))):
            _add(self.draft, ask, Item(*lines, prompt, section=ask.section))
            self._name_commands(ask)

    def _name_commands(self, ask: _Ask) -> None:
        """Adds a finding for each line with a command that is not known."""
        for line, name in dict.fromkeys((self.tex.line(at), name) for at, name in ask.unread):
            if name == "includegraphics":
                self.draft.add("Q609", "a picture was not imported", "describe it in the text", (line, line))
            else:
                message = f"`\\{name}` is not a known command"
                self.draft.add("Q606", message, "write it as text", (line, line), note="it was kept as it is")


_NEARLY_ALL = 0.9
"""Share of the items of a list in which paragraphs below the first answer it."""
_BLOCK = re.compile(r"```.*?```|\$\$.*?\$\$", re.DOTALL)


def _below(text: str) -> tuple[str, str] | None:
    """Returns what asks in the first paragraph of a text, and the paragraphs that answer it; None if it has no such
    paragraphs. A program or a formula alone belongs to the question."""
    asked, _, rest = text.strip().partition("\n\n")
    if not (ends_asking(asked) or demands(asked) or sets_task(asked)):
        return None
    parts = [part for part in _BLOCK.sub("", rest).split("\n\n") if part.strip()]
    if (
        sum(len(part.split()) for part in parts) < _FEWEST_WORDS
        or any(map(ends_asking, parts))
        or any(map(demands, parts))
    ):
        return None
    return asked, rest.strip()


def _take_below(ask: _Ask) -> None:
    """Takes the paragraphs below the first of an item out of the question, as its answer."""
    if ask.parts or ask.options or ask.answers or ask.solutions:
        return
    if parted := _below("\n\n".join(text.strip() for text in ask.texts if text.strip())):
        ask.texts, ask.solutions = [parted[0]], [parted[1]]


def _add(draft: ImportDraft, ask: _Ask, item: Item) -> None:
    """Adds a question by what is known of it."""
    answer = "\n\n".join(ask.solutions)
    if not item.prompt.strip():
        draft.add_skipped("the question has no prompt", "write the question", item.lines)
        return
    offers = ask.options or take_options(item)
    if offers and (key := _KEY.fullmatch(answer.strip())) and not any(right for _, right in offers):
        at = ord(key[1].lower()) - ord("a")
        offers = [(text, at == index) for index, (text, _) in enumerate(offers)]
        answer = ""
    if MARK in item.prompt:
        item.prompt = item.prompt.replace(MARK, "")
        note = "the question was imported without them"
        draft.add("Q606", "the marks of right answers were not read", "use `\\choice`", item.lines, note=note)
    if item.prompt.count(BLANK) == 1:
        item.prompt = _LAST_BLANK.sub("", item.prompt)
    if offers:
        item.why = answer
        add_choice(draft, item, [OptionDraft(text, right) for text, right in offers])
    elif len(ask.answers) == 1 and not answer and len(ask.answers[0]) <= _SHORT:
        add_short(draft, item, ask.answers)
    elif ask.answers or answer:
        add_open(draft, item, "\n\n".join((*ask.answers, *ask.solutions)))
    else:
        add_unanswered(draft, item)
