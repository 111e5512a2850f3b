"""What people see: messages, private messages and views, with their words, controls and fields."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

INPUTS = (
    "plain_text_input",
    "radio_buttons",
    "checkboxes",
    "static_select",
    "multi_static_select",
    "file_input",
    "external_select",
    "conversations_select",
    "channels_select",
    "users_select",
    "timepicker",
    "number_input",
)


def walk(data: Any) -> Iterator[Body]:
    """Yields every nested object, including `data`."""
    if isinstance(data, dict):
        yield data
        for value in data.values():
            yield from walk(value)
    elif isinstance(data, list):
        for value in data:
            yield from walk(value)


def words_of(blocks: list[Body]) -> str:
    """Returns all texts of the blocks, in order."""
    return "\n".join(part["text"] for part in walk(blocks) if isinstance(part.get("text"), str))


def with_ids(blocks: list[Body]) -> list[Body]:
    """Returns the blocks with an id each, as Slack keeps them."""
    return [{"block_id": secrets.token_hex(3), **block} for block in blocks]


FEEDBACK = "feedback_buttons"


def _pressable(element: Body) -> list[Body]:
    """Returns what can be pressed of an element: of buttons for feedback, each of the two."""
    if element["type"] != FEEDBACK:
        return [element]
    about = {"type": FEEDBACK, "action_id": element["action_id"]}
    return [about | element[side] for side in ("positive_button", "negative_button")]


def feedback_labels(block: Body) -> list[str]:
    """Returns the labels of the buttons for feedback of a `context_actions` block."""
    return [str(one["text"]["text"]) for part in block["elements"] for one in _pressable(part)]


@dataclass(frozen=True, slots=True)
class Control:
    """A button or menu, and its block."""

    block_id: str
    element: Body

    @property
    def label(self) -> str:
        text = self.element.get("text")
        return str(text["text"]) if isinstance(text, dict) else ""

    @property
    def action_id(self) -> str:
        return str(self.element.get("action_id", ""))


@dataclass
class Shown:
    """Something with blocks."""

    text: str = ""
    blocks: list[Body] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The words of its blocks and its fallback text."""
        return f"{words_of(self.blocks)}\n{self.text}"

    @property
    def controls(self) -> list[Control]:
        """Its buttons and menus outside inputs, in order."""
        return [
            Control(block["block_id"], one)
            for block in self.blocks
            if block["type"] in ("actions", "context_actions", "section")
            for part in walk(block.get("elements", block.get("accessory", [])))
            if "type" in part and ("action_id" in part or part["type"] == "button")
            for one in _pressable(part)
        ]

    @property
    def fields(self) -> dict[str, Control]:
        """Its inputs, by block id."""
        inputs = [block for block in self.blocks if block["type"] == "input"]
        return {block["block_id"]: Control(block["block_id"], block["element"]) for block in inputs}

    @property
    def labels(self) -> list[str]:
        """The labels of its buttons."""
        return [control.label for control in self.controls if control.element["type"] in ("button", FEEDBACK)]

    def control(self, name: str) -> Control:
        """Returns the control with that action id or label."""
        found = [control for control in self.controls if name in (control.action_id, control.label)]
        assert found, f"nothing {name!r} to press among {[(c.label, c.action_id) for c in self.controls]}"
        return found[0]


@dataclass
class Message(Shown):
    """A message in a channel."""

    team: str = ""
    channel: str = ""
    ts: str = ""
    user: str = ""
    bot_id: str = ""
    thread_ts: str = ""
    broadcast: bool = False
    """Whether a reply is shown in the channel too."""
    metadata: Body = field(default_factory=dict)
    files: list[Body] = field(default_factory=list)
    edited: int = 0
    deleted: bool = False

    @property
    def ref(self) -> str:
        return f"{self.channel}/{self.ts}"

    @property
    def key(self) -> str:
        """The key under which a bot posted it."""
        return str(self.metadata.get("event_payload", {}).get("key", ""))

    def body(self, metadata: bool = True) -> Body:
        """Returns the message as in the API and in payloads."""
        body: Body = {"type": "message", "ts": self.ts, "user": self.user, "text": self.text, "team": self.team}
        extra: Body = {
            "bot_id": self.bot_id,
            "app_id": "A0DOUBLE" if self.bot_id else "",
            "blocks": self.blocks,
            "thread_ts": self.thread_ts,
            "metadata": self.metadata if metadata else {},
            "files": self.files,
        }
        return body | {name: value for name, value in extra.items() if value}


@dataclass
class Ephemeral(Shown):
    """A message that one person sees until they reload."""

    team: str = ""
    channel: str = ""
    ts: str = ""
    user: str = ""
    thread_ts: str = ""
    deleted: bool = False


@dataclass
class View(Shown):
    """A modal or Home tab; `body` is what the app sent."""

    id: str = ""
    team: str = ""
    user: str = ""
    body: Body = field(default_factory=dict)
    hash: str = ""
    root: str = ""
    previous: str = ""
    open: bool = True
    versions: int = 1

    @property
    def title(self) -> str:
        return str(self.body.get("title", {}).get("text", ""))

    @property
    def words(self) -> str:
        """Its title and the words of its blocks."""
        return f"{self.title}\n{words_of(self.blocks)}"
