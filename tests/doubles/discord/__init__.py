"""Discord as a server on this machine: REST and gateway over real sockets, its rules enforced, its faults on demand."""

from tests.doubles.discord.people import Discord

__all__ = ["Discord"]
