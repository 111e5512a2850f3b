"""The network, of every family there is, and signals to others."""

from __future__ import annotations

from tests.sandbox.attacks.attack import Attack

_FAMILIES = {
    "inet, stream": "socket.AF_INET, socket.SOCK_STREAM",
    "inet, datagrams": "socket.AF_INET, socket.SOCK_DGRAM",
    "inet, raw": "socket.AF_INET, socket.SOCK_RAW, 1",
    "inet6, stream": "socket.AF_INET6, socket.SOCK_STREAM",
    "inet6, datagrams": "socket.AF_INET6, socket.SOCK_DGRAM",
    "unix, stream": "socket.AF_UNIX, socket.SOCK_STREAM",
    "unix, datagrams": "socket.AF_UNIX, socket.SOCK_DGRAM",
    "unix, packets": "socket.AF_UNIX, socket.SOCK_SEQPACKET",
    "netlink, routes": "socket.AF_NETLINK, socket.SOCK_RAW, 0",
    "netlink, audit": "socket.AF_NETLINK, socket.SOCK_RAW, 9",
    "netlink, netfilter": "socket.AF_NETLINK, socket.SOCK_RAW, 12",
    "packet": "socket.AF_PACKET, socket.SOCK_RAW",
    "vsock": "40, socket.SOCK_STREAM",
    "bluetooth": "31, socket.SOCK_RAW, 1",
    "can": "29, socket.SOCK_RAW, 1",
    "the kernel's ciphers": "38, socket.SOCK_SEQPACKET",
    "xdp": "44, socket.SOCK_RAW",
    "rds": "21, socket.SOCK_SEQPACKET",
    "tipc": "30, socket.SOCK_STREAM",
    "smc": "43, socket.SOCK_STREAM",
    "appletalk": "5, socket.SOCK_DGRAM",
    "qualcomm's router": "42, socket.SOCK_DGRAM",
    "key management": "15, socket.SOCK_RAW, 2",
    "phonet": "35, socket.SOCK_DGRAM",
}

SOCKETS = [
    Attack(f"a socket: {name}", f"import socket\nattempt(socket.socket, {words})") for name, words in _FAMILIES.items()
]

NETWORK = [
    Attack("a descriptor sent through a pair of sockets",
           "import socket\none, other = socket.socketpair()\nattempt(socket.send_fds, one, [b'x'], [0])"),
    Attack("words through a pair of sockets",
           "import socket\none, other = socket.socketpair()\nattempt(one.send, b'x')"),
    Attack("a pair of sockets turned to another", "import socket\n"
           "one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nattempt(one.bind, '\\0dailygrad')"),
    Attack("options of a pair of sockets", "import socket\n"
           "attempt(socket.socketpair()[0].setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)"),
    Attack("an abstract name", "import socket\nattempt(lambda: socket.socket(socket.AF_UNIX).bind('\\0dailygrad'))"),
    Attack("a server", "import socket\nattempt(socket.create_server, ('127.0.0.1', 0))"),
    Attack("a packet to a resolver", "import socket\nattempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
           ".sendto(b'x', ('127.0.0.1', 53)))",
           uncontrolled="the control's network has no way to go; `a socket: inet, datagrams` is its control"),
    Attack("a socket through io_uring", "call(425, 425, 8, ctypes.create_string_buffer(200))"),
    Attack("a message on a descriptor that is there", "call(46, 211, 3, 0, 0)"),
    Attack("a descriptor passed to us", "call(47, 212, 0, 0, 0)"),
    Attack("a connection on a descriptor that is there", "call(42, 203, 0, 0, 0)"),
    Attack("a download", "import urllib.request\nattempt(urllib.request.urlopen, 'http://127.0.0.1:9/')",
           uncontrolled="nothing answers outside either; the sockets above are its controls"),
    Attack("a name looked up", "import socket\nattempt(socket.getaddrinfo, 'example.org', 80)",
           uncontrolled="nothing answers outside either; the sockets above are its controls"),
    Attack("the engine of containers", "import socket\ns = None\n"
        "for path in ('/var/run/docker.sock', '/run/docker.sock', "
           "'/run/dailygrad/sandbox.sock'):\n    attempt(lambda: socket.socket(socket.AF_UNIX).connect(path))",
           uncontrolled="a machine need not have such a socket; `a socket: unix, stream` is its control"),
]  # fmt: skip

SIGNALS = [
    Attack("kill process 1", "attempt(os.kill, 1, 0)"),
    Attack("kill everyone", "import time\ntry: os.fork() or (time.sleep(0.3), os._exit(0))\n"
           "except OSError: pass\nattempt(os.kill, -1, 0)"),
    Attack("kill our parent", "attempt(os.kill, os.getppid(), 0)"),
    Attack("kill our group", "attempt(os.killpg, 0, 0)"),
    Attack("kill any number", "for number in range(2, 300):\n    try: os.kill(number, 0); breach(); break\n"
           "    except PermissionError as problem: last = problem\n    except ProcessLookupError: pass\n"
           "else: refused(last)", uncontrolled="which numbers are taken is chance; `kill process 1` is its control"),
    Attack("kill a thread of another", "call(234, 131, 2, 2, 0)"),
    Attack("kill a thread, the old way", "call(200, 130, 1, 0)"),
    Attack("queue a signal", "call(129, 138, 1, 0, 0)"),
    Attack("queue a signal to a thread", "call(297, 240, 1, 1, 0, 0)"),
    Attack("kill by a handle", "call(424, 424, 0, 0, 0, 0)"),
    Attack("a handle of a process", "call(434, 434, 1, 0)"),
    Attack("signals from a descriptor", "import fcntl\nattempt(fcntl.fcntl, 0, fcntl.F_SETOWN, os.getpid())"),
    Attack("leave our group", "call(109, 154, 0, 0)",
           uncontrolled="a leader of its session gets EPERM anywhere, and every child of ours is one"),
    Attack("leave our session", "call(112, 157)",
           uncontrolled="a leader of its session gets EPERM anywhere, and every child of ours is one"),
    Attack("outlive our parent", "call(157, 167, 1, 0, 0, 0, 0)"),
    Attack("be dumpable again", "call(157, 167, 4, 1, 0, 0, 0)"),
    Attack("be the reaper of others", "call(157, 167, 36, 1, 0, 0, 0)"),
    Attack("run before all others", "attempt(os.nice, -20)"),
    Attack("run in real time", "attempt(os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))"),
    Attack("another's priority", "attempt(os.setpriority, os.PRIO_PROCESS, 1, 0)"),
    Attack("another's processors", "attempt(os.sched_setaffinity, 1, os.sched_getaffinity(0))"),
    Attack("another's disk priority", "call(251, 30, 1, 1, 0x4000)"),
    Attack("another's limits", "attempt(resource.prlimit, 1, resource.RLIMIT_NOFILE)"),
]  # fmt: skip

ATTACKS = SOCKETS + NETWORK + SIGNALS
