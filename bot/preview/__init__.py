"""Previews of a question: every card of its life, as each chat would show it."""
