"""The local web chat: a channel in the browser, server-rendered, live by server-sent events; and the linked editor."""

from bot.web.app import build, build_linked
from bot.web.chat import WebChat
from bot.web.editor import LinkedEditor
from bot.web.store import ChatStore

__all__ = ["ChatStore", "LinkedEditor", "WebChat", "build", "build_linked"]
