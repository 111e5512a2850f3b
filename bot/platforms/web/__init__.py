"""The local web chat: a channel in the browser, server-rendered, live by server-sent events; and the linked editor."""

from bot.platforms.web.app import build, build_linked
from bot.platforms.web.chat import WebChat
from bot.platforms.web.linked import LinkedEditor
from bot.platforms.web.store import ChatStore

__all__ = ["ChatStore", "LinkedEditor", "WebChat", "build", "build_linked"]
