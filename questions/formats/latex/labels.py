r"""Parts questions from answers at bold letters or words in LaTeX: `\textbf{Q} What is a view? \textbf{A} It …`."""

from __future__ import annotations

import re

_LABEL = r"(?:[Qq]uestion|[Aa]nswer|Q|A|Ans)(?:[ ]?(?:[a-h]|\d{1,2}))?[).:]{0,2}"
LABEL_COMMAND = re.compile(rf"\\textbf\{{[ ]?{_LABEL}[ ]?\}}")
"""A label in LaTeX."""
_SHOWN = re.compile(rf"\*\*[ ]?(?P<label>{_LABEL})[ ]?\*\*[.:]?[ ]*")


def has_labels(tex: str) -> bool:
    """Returns whether a text has labels of a question and of an answer."""
    found = {one[0].removeprefix("\\textbf{").strip()[:1].upper() for one in LABEL_COMMAND.finditer(tex)}
    return found == {"Q", "A"}


def part_at_labels(markdown: str) -> tuple[str, str]:
    """Returns the question and the answer of a text, without its labels where each is there once; the answer is empty
    where no label begins one."""
    found = [*_SHOWN.finditer(markdown)]
    if not any(_answers(one) for one in found):
        return markdown, ""
    ends = [*(one.start() for one in found[1:]), len(markdown)]
    asked = [markdown[: found[0].start()].strip()]
    answered: list[str] = []
    alone = sum(map(_answers, found)) == 1 and len(found) <= _PAIR
    for one, end in zip(found, ends, strict=True):
        text = markdown[one.end() if alone else one.start() : end].strip()
        (answered if _answers(one) else asked).append(text)
    return " ".join(text for text in asked if text), "\n\n".join(text for text in answered if text)


_PAIR = 2
"""Labels of a question and its answer."""


def _answers(found: re.Match[str]) -> bool:
    return found["label"][0] in "Aa"
