"""The local web chat, rendered on the server and updated by server-sent events; and the web editor opened by links."""

from bot.web.app import build, build_editor
from bot.web.chat import WebChat
from bot.web.editor import LinkedEditor
from bot.web.oidc import Provider
from bot.web.render import compile_templates
from bot.web.store import ChatStore

__all__ = ["ChatStore", "LinkedEditor", "Provider", "WebChat", "build", "build_editor", "compile_templates"]
