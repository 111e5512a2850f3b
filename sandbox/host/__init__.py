"""Trusted code outside the jail: the supervisor, its queue and its child processes.

Executes no submitted code and imports no torch. It trusts the kernel and nothing that comes from a child: every byte
from a child is read with a cap, and its reports are used only against the answer, never in its favor.
"""
