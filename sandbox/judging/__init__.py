"""Trusted code that judges answers. It never executes submitted code and imports no torch.

It trusts nothing an answer's process reports: a verdict depends only on bytes compared here, in a process the answer
cannot reach. Imports neither `sandbox.host` nor `sandbox.inside`; `challenge` has programs run through a client.
"""
