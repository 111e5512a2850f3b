"""Writes the table of characters that look alike from Unicode's `confusables.txt`: `python deploy/confusables.py FILE`.

Left out are characters that NFKC replaces, because names are normalized before they are compared.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

TABLE = Path(__file__).parents[1] / "service/domain/confusables.json"
SOURCE = "https://www.unicode.org/Public/security/latest/confusables.txt"
NOTICE = [
    "Copyright © 1991-2025 Unicode, Inc. Unicode License V3, SPDX: Unicode-3.0.",
    "Permission is hereby granted, free of charge, to any person obtaining a copy of data files and any associated "
    'documentation (the "Data Files") or software and any associated documentation (the "Software") to deal in the '
    "Data Files or Software without restriction, including without limitation the rights to use, copy, modify, merge, "
    "publish, distribute, and/or sell copies of the Data Files or Software, and to permit persons to whom the Data "
    "Files or Software are furnished to do so, provided that either (a) this copyright and permission notice appear "
    "with all copies of the Data Files or Software, or (b) this copyright and permission notice appear in associated "
    "Documentation.",
    'THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT '
    "NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF THIRD "
    "PARTY RIGHTS. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, "
    "OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR "
    "PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION "
    "WITH THE USE OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.",
    "Except as contained in this notice, the name of a copyright holder shall not be used in advertising or otherwise "
    "to promote the sale, use or other dealings in these Data Files or Software without prior written authorization "
    "of the copyright holder.",
]


def read(text: str) -> tuple[str, dict[str, str]]:
    """Returns the version of the data, and the prototypes: characters that look alike have the same one."""
    version = re.search(r"^# Version: (\S+)$", text, re.MULTILINE)
    if version is None:
        raise SystemExit("This file does not name its version: give confusables.txt as Unicode publishes it.")
    prototypes = {}
    for line in text.splitlines():
        fields = line.split("#")[0].split(";")
        if len(fields) == 3:
            character, prototype = ("".join(chr(int(code, 16)) for code in field.split()) for field in fields[:2])
            prototypes[character] = prototype
    return version[1], prototypes


def table(text: str) -> str:
    """Returns the table as JSON: for each prototype, the characters that look like it."""
    version, prototypes = read(text)
    alike: dict[str, str] = {}
    for character, prototype in sorted(prototypes.items()):
        if unicodedata.is_normalized("NFKC", character):
            alike[prototype] = alike.get(prototype, "") + character
    about = {"source": SOURCE, "version": version, "license": NOTICE}
    lines = [f"    {_code_points(prototype)}: {_code_points(alike[prototype])}" for prototype in sorted(alike)]
    head = json.dumps(about, indent=2, ensure_ascii=False).removesuffix("\n}")
    return head + ',\n  "alike": {\n' + ",\n".join(lines) + "\n  }\n}\n"


def _code_points(text: str) -> str:
    return '"' + " ".join(f"{ord(one):04X}" for one in text) + '"'


if __name__ == "__main__":
    TABLE.write_text(table(Path(sys.argv[1]).read_text("utf-8-sig")), "utf-8")
