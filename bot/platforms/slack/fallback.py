"""What Slack's blocks say as plain text: all that a notification shows and a screen reader reads of a message."""

from __future__ import annotations

from typing import Any

Block = dict[str, Any]


def plain_of(blocks: list[Block]) -> str:
    """The words of the blocks, a line or more for each; buttons are named in brackets."""
    return "\n".join(said for block in blocks if (said := _said(block).strip()))


def _said(block: Block) -> str:
    match block["type"]:
        case "header":
            return str(block["text"]["text"])
        case "context":
            return " ".join(str(element["text"]) for element in block["elements"])
        case "rich_text":
            return "\n".join(_rich(element) for element in block["elements"])
        case "table":
            return "\n".join(" · ".join(str(cell["text"]) for cell in row) for row in block["rows"])
        case "actions":
            return "   ".join(_pressed(element) for element in block["elements"])
        case "image":
            return f"[picture: {block['alt_text']}]"
        case _:
            return f"{block['label']['text']}:"


def _pressed(button: Block) -> str:
    opens = f" ({button['url']})" if "url" in button else ""
    return f"[{button['text']['text']}]{opens}"


def _rich(element: Block) -> str:
    if element["type"] == "rich_text_list":
        marks = [
            f"{place}." if element["style"] == "ordered" else "•" for place in range(1, len(element["elements"]) + 1)
        ]
        indent = "  " * int(element.get("indent", 0))
        return "\n".join(f"{indent}{mark} {_rich(item)}" for mark, item in zip(marks, element["elements"], strict=True))
    return "".join(_run(run) for run in element["elements"])


def _run(run: Block) -> str:
    text = str(run.get("text", run.get("url", "")))
    if run["type"] == "link" and text != run["url"]:
        text = f"{text} ({run['url']})"
    # Where no line goes through the words, they must not read as if they held.
    return f"[struck out: {text}]" if run.get("style", {}).get("strike") else text
