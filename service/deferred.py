"""Loads modules when they are first needed: an idle process need not keep them in memory."""

from __future__ import annotations

import asyncio
import importlib

_loaded: set[str] = set()


async def load_module(name: str) -> None:
    """Imports a module in a thread unless it is loaded, so that the event loop keeps running.

    An `import` statement for it on the event loop takes no time afterwards.
    """
    # Not sys.modules, which has a module from the moment another thread begins to import it.
    if name not in _loaded:
        await asyncio.to_thread(importlib.import_module, name)
        _loaded.add(name)
