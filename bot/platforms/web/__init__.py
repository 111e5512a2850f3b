"""The local web chat: a channel in the browser, server-rendered, live by server-sent events."""
