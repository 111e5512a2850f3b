"""A test double of Discord: REST API and gateway on real sockets, with Discord's rules and faults on demand."""

from tests.doubles.discord.people import Discord

__all__ = ["Discord"]
