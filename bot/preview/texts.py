"""A scene as text for a terminal, or as the very data a chat would be sent."""

from __future__ import annotations

from typing import Any

from bot.core.cards import Card, Form
from bot.platforms import discord, slack
from bot.platforms.console.filling import Filling
from bot.platforms.console.render import card_text, form_text
from bot.platforms.slack.fallback import plain_of
from bot.preview.staging import Scene

PLATFORMS = ("web", "console", "discord", "slack")


def scene_text(scene: Scene, platform: str, width: int = 80) -> str:
    """What the chat shows, as text. The web chat's words are the console's: its looks are on the page."""
    if platform == "discord":
        return _discord_text(scene)
    if platform == "slack":
        return _slack_text(scene)
    said = scene.said
    if isinstance(said, Card):
        return card_text(said, width)
    return f"{form_text(said, width)}\n\n{Filling(said).question(width)}"


def scene_data(scene: Scene, platform: str) -> list[dict[str, Any]]:
    """What Discord or Slack would be sent: messages, or the one modal or view. Raises KeyError for another chat."""
    said = scene.said
    if isinstance(said, Form):
        return [{"discord": discord.modal, "slack": slack.view}[platform](said)]
    if platform == "discord":
        return discord.bodies(said, private=scene.private)
    return {"slack": slack.bodies}[platform](said)


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
        shown.append("\n".join([title + plain_of(body["blocks"]), *inputs]))
    return "\n\n· · ·\n\n".join(shown)


def _input(element: dict[str, Any]) -> list[str]:
    if "options" in element:
        return [f"( ) {option['text']['text']}" for option in element["options"]]
    return [str(element.get("initial_value", "")) or "________"]
