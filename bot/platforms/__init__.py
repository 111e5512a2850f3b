"""One folder per chat: an adapter (events in, cards out) and a renderer (a card as that chat's objects)."""
