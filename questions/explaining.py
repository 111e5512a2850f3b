"""What each code of a finding means: the pages of FINDINGS.md."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_HEADING = re.compile(r"^## (?P<codes>[QP]\d{3}(?:, [QP]\d{3})*)(?: .*)?$", re.MULTILINE)

_CODE = re.compile(r"[QP]\d{3}")


@cache
def explanations() -> dict[str, str]:
    """Each code's section of FINDINGS.md, as Markdown."""
    text = (resources.files("questions") / "FINDINGS.md").read_text(encoding="utf-8")
    found = list(_HEADING.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    return {
        code: text[one.start() : end].strip()
        for one, end in zip(found, ends, strict=True)
        for code in one["codes"].split(", ")
    }


def explained(code: str) -> str:
    """The section about a code, however it is written. Raises KeyError where there is none."""
    found = _CODE.search(code.upper())
    return explanations()[found[0] if found else code]
