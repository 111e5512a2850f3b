"""Runs strangers' PyTorch code, and judges it where no stranger's code runs.

    service ── client ═ unix socket ═ supervisor ── control ── zygote        in the jail: bubblewrap, read-only runtime,
               judge                  pool, running            torch, once   no network, no /etc, no home, no root
               challenge                  ║                      │ clone into new namespaces
                                          ╚═ four pipes ══ child: one run, then dead
                                                           confine: tmpfs, no /proc, limits, no capability,
                                                           Landlock, seccomp

The verdict is made by `judge` from bytes, out of reach of every process that ran an answer. The statuses of a run:
ok, error (it raised), time, memory, output, crash (it died without a word), denied (it met a wall), internal (ours).
Enter by `client`, `challenge`, `judge` and `wire`; `embedded` starts a supervisor beside you.
"""
