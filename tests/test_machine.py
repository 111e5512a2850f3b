"""A free port is kept for the server that will listen on it."""

from __future__ import annotations

import socket

import pytest

from tests.machine import free_port


def test_a_free_port_is_for_a_server_and_for_nobody_who_asks_for_any() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)) as server:
        assert server.getsockname()[1] == port
