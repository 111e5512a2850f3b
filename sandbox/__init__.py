"""Runs untrusted PyTorch code, and judges it in a process that never runs it.

    service ── client ═ Unix socket ═ supervisor ── control ── zygote        in the jail: bubblewrap, read-only runtime,
               judge                  pool, running            torch, once   no network, no /etc, no home, no root
               challenge                  ║                      │ clone into new namespaces
                                          ╚═ four pipes ══ child: one run, then killed
                                                           confine: tmpfs, no /proc, limits, no capabilities,
                                                           Landlock, seccomp

Three subpackages mark the trust boundary. `host` is trusted and stays outside the jail. `inside` runs in the jail next
to untrusted code, and nothing it reports is believed. `judging` is trusted, runs no submitted code, and makes the
verdict from bytes. Callers use `client`, `wire` and `judging`; `embedded` starts a supervisor as a subprocess.
"""
