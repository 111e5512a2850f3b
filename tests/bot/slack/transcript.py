"""Records what people did and saw on Slack as Markdown that reads like the chat."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import environ
from pathlib import Path

from tests.doubles.slack.surfaces import Body, Ephemeral, Message, Shown, View, feedback_labels
from tests.doubles.slack.world import Team, User

FOLDER = "DAILYGRAD_TRANSCRIPTS"
"""Variable that names a folder; tests write their transcripts there."""


@dataclass
class Transcript:
    """A readable record of a test."""

    name: str
    lines: list[str] = field(default_factory=list)

    def chapter(self, title: str) -> None:
        """Begins a chapter."""
        self.lines.append(f"## {title}\n")

    def did(self, user: User, what: str) -> None:
        """Records what a person did."""
        self.lines.append(f"**{user.name}** {what}\n")

    def saw(self, user: User, team: Team, shown: Shown) -> None:
        """Records what a person saw."""
        quoted = "\n".join(f"> {line}".rstrip() for line in readable(shown).splitlines())
        self.lines.append(f"*{_place(user, team, shown)}:*\n\n{quoted}\n")

    def text(self) -> str:
        """Returns the transcript."""
        title = self.name.replace("_", " ")
        return f"# {title[0].upper()}{title[1:]}\n\n" + "\n".join(self.lines)

    def write(self) -> None:
        """Writes the transcript if the variable names a folder."""
        folder = environ.get(FOLDER)
        if folder and self.lines:
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / f"slack-{self.name}.md").write_text(self.text(), encoding="utf-8")


def _place(user: User, team: Team, shown: Shown) -> str:
    match shown:
        case View():
            return f"{user.name} sees a window" if "submit" in shown.body else f"{user.name} sees in a window"
        case Ephemeral():
            return f"Only {user.name} sees"
        case Message():
            channel = team.channels[shown.channel]
            if channel.im:
                return f"{user.name} gets a direct message"
            where = f"#{channel.name}"
            if shown.thread_ts:
                where = f"the thread and in {where}" if shown.broadcast else "the thread"
            return f"Everyone sees in {where}" + (", changed" if shown.edited else "")
    raise AssertionError(f"a {type(shown).__name__} has no place")


def readable(shown: Shown) -> str:
    """Returns blocks as Markdown, with buttons in brackets."""
    title = [f"**{shown.title}**"] if isinstance(shown, View) else []
    return "\n\n".join([*title, *filter(None, map(_block, shown.blocks))])


def _block(block: Body) -> str:
    match block["type"]:
        case "header":
            return f"**{block['text']['text']}**"
        case "context":
            return "\n".join(f"*{part['text']}*" for part in block["elements"])
        case "rich_text":
            return "\n\n".join(_element(element) for element in block["elements"])
        case "table":
            return _table(block["rows"])
        case "actions":
            return " ".join(f"`[{part['text']['text']}]`" for part in block["elements"])
        case "data_visualization":
            return f"*Chart: {block['title']}*"
        case "context_actions":
            return " ".join(f"`[{label}]`" for label in feedback_labels(block))
        case "input":
            return _input(block)
        case "image":
            return f"*Picture: {block['alt_text']}*"
        case "alert":
            return f"**{block['text']['text']}**"
    raise AssertionError(f"the transcript knows no {block['type']} yet")


def _input(block: Body) -> str:
    element = block["element"]
    label = str(block["label"]["text"])
    label += "" if label.endswith((".", "?", ":")) else ":"
    if options := element.get("options"):
        first = element.get("initial_option", {}).get("value")
        marks = [f"{'(•)' if one['value'] == first else '( )'} {one['text']['text']}" for one in options]
        return "\n".join([label, *(f"- {mark}" for mark in marks)])
    initial = element.get("initial_value") or element.get("initial_time") or element.get("initial_conversation") or ""
    if "\n" in initial:
        return f"{label}\n```\n{initial.rstrip()}\n```"
    return f"{label} `{initial or '________'}`"


def _element(element: Body) -> str:
    match element["type"]:
        case "rich_text_preformatted":
            return f"```{element.get('language', '')}\n{_runs(element)}\n```"
        case "rich_text_list":
            mark = "1." if element["style"] == "ordered" else "-"
            return "\n".join(f"{'  ' * element.get('indent', 0)}{mark} {_runs(item)}" for item in element["elements"])
        case "rich_text_quote":
            return "\n".join(f"> {line}" for line in _runs(element).splitlines())
        case _:
            return _runs(element).strip("\n")


def _runs(element: Body) -> str:
    marked = element["type"] != "rich_text_preformatted"
    return "".join(_run(run, marked) for run in element["elements"])


def _run(run: Body, marked: bool) -> str:
    text = str(run.get("text") or run.get("fallback") or run.get("url", ""))
    style = run.get("style", {})
    if not marked or not text.strip():
        return text
    if style.get("code"):
        text = f"`{text}`"
    for name, mark in (("bold", "**"), ("italic", "*"), ("strike", "~~")):
        if style.get(name):
            text = f"{mark}{text}{mark}"
    return f"[{text}]({run['url']})" if run["type"] == "link" else text


def _table(rows: list[list[Body]]) -> str:
    lines = [f"| {' | '.join(str(cell['text']) for cell in row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
