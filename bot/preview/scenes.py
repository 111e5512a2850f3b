"""Builds the cards of a question's life from invented data, with the code that words them for members."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from bot import discord, slack
from bot.console.chat import FormSession
from bot.console.render import card_text, form_text
from bot.core.cards import Card, Form
from bot.core.markup import highlight_css
from bot.core.text import outbox_card
from bot.core.text.questions import private_question
from bot.preview import html
from bot.slack.render import fallback_text
from bot.web.render import code_colors
from bot.web.render import environment as web_environment
from service.wire import AnswerKey, AskForm, OptionKey, PersonView, QuestionPost, QuestionView, RevealPost

REF = "r1"
_OPENS = datetime(2026, 3, 5, 8, tzinfo=UTC)
_CLOSES = datetime(2026, 3, 5, 16, tzinfo=UTC)
_NEXT = datetime(2026, 3, 6, 8, tzinfo=UTC)
_ANSWERS, _RIGHT = 5, 3


@dataclass(frozen=True, slots=True)
class Scene:
    """A named moment and the card or form shown then."""

    name: str
    content: Card | Form
    private: bool = False


def make_scenes(view: QuestionView, key: AnswerKey) -> tuple[Scene, ...]:
    """Returns the daily post, the private card or form, and the reveal with invented answers."""
    post = QuestionPost(ref=REF, question=view, day=_OPENS.date(), closes_at=_CLOSES, zone="UTC")
    ask = AskForm(ref=REF, question=view, closes_at=_CLOSES, zone="UTC")
    return (
        Scene("The post", outbox_card(post)),
        Scene("The private answer", private_question(ask, _OPENS), private=True),
        Scene("The reveal, with invented answers", outbox_card(_reveal(key))),
    )


def _reveal(key: AnswerKey) -> RevealPost:
    ann, bob = PersonView(name="Ann", points=15, streak=7), PersonView(name="Bob", points=15, streak=1)
    chosen = key.model_copy(update={"options": _chosen(key.options)})
    # No program calls prose right, so at the reveal nobody is the first who was.
    right, first = (0, None) if key.question.kind == "open" else (_RIGHT, ann)
    return RevealPost(
        ref=REF,
        day=_OPENS.date(),
        key=chosen,
        answers=_ANSWERS,
        right=right,
        mean_credit=right / _ANSWERS,
        first=first,
        points=(ann, bob),
        next_at=_NEXT,
        zone="UTC",
    )


def _chosen(options: tuple[OptionKey, ...]) -> tuple[OptionKey, ...]:
    """Distributes answers: three right ones, and one for each of the first two wrong options."""
    wrong = [option.id for option in options if not option.right][: _ANSWERS - _RIGHT]
    counts = {option.id: _RIGHT if option.right else int(option.id in wrong) for option in options}
    return tuple(option.model_copy(update={"chosen_by": counts[option.id]}) for option in options)


# Scenes as text, or as the data sent to a chat

PLATFORMS = ("web", "console", "discord", "slack")
WIDTH = 80
"""Columns of the console's text."""


def scene_text(scene: Scene, platform: str) -> str:
    """Returns a scene as text. For the web chat, it is the console's text; the page shows how it looks."""
    if platform == "discord":
        return _discord_text(scene)
    if platform == "slack":
        return _slack_text(scene)
    content = scene.content
    if isinstance(content, Card):
        return card_text(content, WIDTH)
    return f"{form_text(content, WIDTH)}\n\n{FormSession(content).question(WIDTH)}"


def scene_data(scene: Scene, platform: str) -> list[dict[str, Any]]:
    """Returns the messages, modal or view for Discord or Slack. Raises KeyError for other chats."""
    content = scene.content
    if isinstance(content, Form):
        return [{"discord": discord.modal, "slack": slack.view}[platform](content)]
    if platform == "discord":
        return discord.bodies(content, private=scene.private)
    return {"slack": slack.bodies}[platform](content)


def _discord_text(scene: Scene) -> str:
    shown = []
    for body in scene_data(scene, "discord"):
        lines = [f"[{body['title']}]"] if "title" in body else []
        lines += [line for component in body["components"] for line in _component(component)]
        shown.append("\n\n".join(lines))
    return "\n\n· · ·\n\n".join(shown)


def _component(component: dict[str, Any]) -> list[str]:
    if "content" in component:
        return [str(component["content"])]
    if "component" in component:
        hint = f" ({component['description']})" if "description" in component else ""
        return [f"{component['label']}{hint}", *_component(component["component"])]
    if "options" in component:
        return ["\n".join(f"( ) {option['label']}" for option in component["options"])]
    if component["type"] == 12:
        return [f"[picture: {item['description']}]" for item in component["items"]]
    if component["type"] == 1:
        return ["   ".join(f"[{button['label']}]" for button in component["components"])]
    if component["type"] == 19:
        return ["[Upload a file]"]
    if component["type"] == 4:
        return [str(component.get("value", "")) or "________"]
    return [line for inner in component["components"] for line in _component(inner)]


def _slack_text(scene: Scene) -> str:
    shown = []
    for body in scene_data(scene, "slack"):
        title = f"[{body['title']['text']}]\n" if "title" in body else ""
        inputs = [line for block in body["blocks"] if block["type"] == "input" for line in _input(block["element"])]
        shown.append("\n".join([title + fallback_text(body["blocks"]), *inputs]))
    return "\n\n· · ·\n\n".join(shown)


def _input(element: dict[str, Any]) -> list[str]:
    if "options" in element:
        return [f"( ) {option['text']['text']}" for option in element["options"]]
    if element["type"] == "file_input":
        return ["[Upload a file]"]
    return [str(element.get("initial_value", "")) or "________"]


# The preview page: one file without scripts

HERE = Path(__file__).parent
CHAT_CSS = HERE.parent / "web" / "static" / "chat.css"


def write_page(title: str, rehearsals: list[tuple[str, tuple[Scene, ...]]], folder: Path) -> Path:
    """Writes the page into a folder, which is created if needed; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', title)}.preview.html"
    file.write_text(page_html(title, rehearsals), encoding="utf-8")
    return file.resolve()


def page_html(title: str, rehearsals: list[tuple[str, tuple[Scene, ...]]]) -> str:
    """Returns the page. Each preview is a question's name with its scenes; a family has one per variant."""
    own = (HERE / "preview.css").read_text(encoding="utf-8")
    code = (highlight_css("dark", ".discord .code"), highlight_css("light", ".slack .code"))
    styles = (CHAT_CSS.read_text(encoding="utf-8"), code_colors(), *code, own)
    questions = [
        (name, [(scene, _columns(scene, f"q{place}s{at}")) for at, scene in enumerate(found)])
        for place, (name, found) in enumerate(rehearsals)
    ]
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            css=Markup("\n".join(styles)),  # noqa: S704 - our own files
            questions=questions,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _columns(scene: Scene, name: str) -> list[tuple[str, str, list[Markup]]]:
    content = scene.content
    found = {platform: scene_data(scene, platform) for platform in ("discord", "slack")}
    if isinstance(content, Form):
        discord = [html.modal_html(body, f"{name}d") for body in found["discord"]]
        slack = [html.view_html(body, f"{name}s") for body in found["slack"]]
    else:
        pngs = content.pictures
        discord = [html.discord_message_html(body, pngs) for body in found["discord"]]
        slack = [html.slack_message_html(body, pngs) for body in found["slack"]]
    return [("web", "Web", [_web(content, name)]), ("discord", "Discord", discord), ("slack", "Slack", slack)]


def _web(content: Card | Form, name: str) -> Markup:
    """Renders with the web chat's own templates; the buttons do nothing."""
    blocks = web_environment().get_template("blocks.html").module
    parts = [Markup("<h4>{}</h4>").format(content.title), *(Markup(blocks.block(part)) for part in content.blocks)]  # type: ignore[attr-defined]  # noqa: S704 - a template's macro escapes
    message = SimpleNamespace(id=name)
    if isinstance(content, Form):
        parts += [Markup(blocks.field(field, message, "")) for field in content.fields]  # type: ignore[attr-defined]  # noqa: S704 - as above
        labels = [(content.submit, "primary"), *((button.label, button.style) for button in content.extras)]
    else:
        labels = [(button.label, button.style) for button in content.all_buttons]
        labels += [(f"{link.label} ↗", "plain") for link in content.links]
    buttons = [Markup('<button type="button" class="{}">{}</button>').format(style, label) for label, style in labels]
    return Markup("\n").join([*parts, Markup('<div class="buttons">{}</div>').format(Markup("\n").join(buttons))])
