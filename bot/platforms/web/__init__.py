"""The local web chat: a channel in the browser, server-rendered, live by server-sent events."""

from bot.platforms.web.app import build
from bot.platforms.web.chat import WebChat
from bot.platforms.web.store import ChatStore

__all__ = ["ChatStore", "WebChat", "build"]
