"""A question before it is asked: its post, its private form and its reveal as each chat would show them."""

from bot.preview.page import page_html, write_page
from bot.preview.staging import Scene, scenes
from bot.preview.texts import PLATFORMS, scene_data, scene_text

__all__ = ["PLATFORMS", "Scene", "page_html", "scene_data", "scene_text", "scenes", "write_page"]
