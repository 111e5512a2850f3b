"""The page of a question's scenes in the web chat, Discord and Slack beside one another: one file, no script."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from bot.core.cards import Card, Form
from bot.core.markup import highlight_css
from bot.platforms.discord.render import pictures
from bot.platforms.web.render import code_colours
from bot.platforms.web.render import environment as web_environment
from bot.preview import discord_html, slack_html
from bot.preview.staging import Scene
from bot.preview.texts import scene_data

HERE = Path(__file__).parent
CHAT_CSS = HERE.parent / "platforms" / "web" / "static" / "chat.css"


def write_page(title: str, rehearsals: list[tuple[str, tuple[Scene, ...]]], folder: Path) -> Path:
    """Write the page into the folder, which is made where it is missing; where it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', title)}.preview.html"
    file.write_text(page_html(title, rehearsals), encoding="utf-8")
    return file.resolve()


def page_html(title: str, rehearsals: list[tuple[str, tuple[Scene, ...]]]) -> str:
    """The whole page. Each rehearsal is a question's name and its scenes; a family has one for every drawing."""
    own = (HERE / "preview.css").read_text(encoding="utf-8")
    code = (highlight_css("dark", ".discord .code"), highlight_css("light", ".slack .code"))
    styles = (CHAT_CSS.read_text(encoding="utf-8"), code_colours(), *code, own)
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
    said = scene.said
    found = {platform: scene_data(scene, platform) for platform in ("discord", "slack")}
    if isinstance(said, Form):
        discord = [discord_html.modal_html(body, f"{name}d") for body in found["discord"]]
        slack = [slack_html.view_html(body, f"{name}s") for body in found["slack"]]
    else:
        pngs = pictures(said)
        discord = [discord_html.message_html(body, pngs) for body in found["discord"]]
        slack = [slack_html.message_html(body, pngs) for body in found["slack"]]
    return [("web", "Web", [_web(said, name)]), ("discord", "Discord", discord), ("slack", "Slack", slack)]


def _web(said: Card | Form, name: str) -> Markup:
    """The web chat's own look, of its own templates, with buttons that do nothing."""
    blocks = web_environment().get_template("blocks.html").module
    parts = [Markup("<h4>{}</h4>").format(said.title), *(Markup(blocks.block(part)) for part in said.blocks)]  # type: ignore[attr-defined]  # noqa: S704 - a template's macro escapes
    message = SimpleNamespace(id=name)
    if isinstance(said, Form):
        parts += [Markup(blocks.field(field, message, "")) for field in said.fields]  # type: ignore[attr-defined]  # noqa: S704 - as above
        labels = [(said.submit, "primary"), *((button.label, button.style) for button in said.extras)]
    else:
        labels = [(button.label, button.style) for button in said.buttons]
        labels += [(f"{link.label} ↗", "plain") for link in said.links]
    buttons = [Markup('<button type="button" class="{}">{}</button>').format(style, label) for label, style in labels]
    return Markup("\n").join([*parts, Markup('<div class="buttons">{}</div>').format(Markup("\n").join(buttons))])
