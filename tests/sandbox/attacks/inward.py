"""Other processes' memory, environment and descriptors, and files that are nobody's business."""

from __future__ import annotations

from tests.sandbox.attacks.attack import Attack

_READ = {
    "the list of processes": "os.listdir, '/proc'",
    "process 1's environment": "open, '/proc/1/environ'",
    "our environment": "open, '/proc/self/environ'",
    "our command line": "open, '/proc/self/cmdline'",
    "our memory": "open, '/proc/self/mem', 'rb'",
    "our map": "open, '/proc/self/maps'",
    "our mounts": "open, '/proc/self/mountinfo'",
    "our descriptors": "os.listdir, '/proc/self/fd'",
    "our program, to overwrite": "open, '/proc/self/exe', 'rb'",
    "our root": "os.listdir, '/proc/self/root'",
    "our namespaces": "os.open, '/proc/self/ns/pid', 0",
    "our cgroup": "open, '/proc/self/cgroup'",
    "process 1's memory": "open, '/proc/1/mem', 'rb'",
    "the pattern of cores": "open, '/proc/sys/kernel/core_pattern'",
    "the magic keys": "open, '/proc/sysrq-trigger', 'w'",
    "the kernel's names": "open, '/proc/kallsyms'",
    "the kernel's keys": "open, '/proc/keys'",
    "the kernel's command line": "open, '/proc/cmdline'",
    "devices in /sys": "os.listdir, '/sys'",
    "groups of control": "os.listdir, '/sys/fs/cgroup'",
}
_FILES = {
    "the root": "os.listdir, '/'",
    "/etc": "os.listdir, '/etc'",
    "who there is": "open, '/etc/passwd'",
    "their passwords": "open, '/etc/shadow'",
    "the host's name": "open, '/etc/hostname'",
    "a home": "os.listdir, '/root' if os.getuid() == 0 else '/home'",
    "what runs": "os.listdir, '/run'",
    "what is logged": "os.listdir, '/var'",
    "the devices": "os.listdir, '/dev'",
    "shared memory": "open, '/dev/shm/x', 'w'",
    "the terminal's maker": "os.open, '/dev/ptmx', os.O_RDWR",
    "a device of our own": "os.mknod, '/tmp/x', 0o20600, os.makedev(1, 3)",
    "a pipe of our own": "os.mkfifo, '/tmp/p'",
    "a symbolic link": "os.symlink, '/etc/shadow', '/tmp/s'",
    "a hard link": "os.link, open('/tmp/l', 'w').name, '/tmp/m'",
    "a set-user-id file": "os.chmod, open('/tmp/c', 'w').name, 0o4755",
    "a file given away": "os.chown, open('/tmp/o', 'w').name, os.getuid(), os.getgid()",
    "an attribute of a file": "os.setxattr, open('/tmp/a', 'w').name, 'user.x', b'x'",
    "a lock on what all share": "__import__('fcntl').flock, open(os.__file__), 2",
    "a record lock on what all share": "__import__('fcntl').lockf, open(os.__file__), 1",
    "a lease on what all share": "__import__('fcntl').fcntl, os.open(os.__file__, 0), 1024, 1",
    "word of changes to what all share": "__import__('fcntl').fcntl, os.open(os.path.dirname(os.__file__), 0), 1026, 2",
}
# The control opens these for appending and writes nothing: they belong to the machine the tests run on.
_WRITE = {
    "torch on disk": "import torch\nattempt(open, torch.__file__, 'a')",
    "torch's library": "import torch\nattempt(open, os.path.join(os.path.dirname(torch.__file__), 'lib', "
    "'libtorch_cpu.so'), 'ab')",
    "our package": "import sandbox\nattempt(open, sandbox.__file__, 'a')",
    "Python's library": "attempt(open, os.__file__, 'a')",
    "a file beside torch": "import torch\n"
    "attempt(os.open, os.path.dirname(os.path.dirname(torch.__file__)), os.O_TMPFILE | os.O_RDWR)",
    "times of what all share": "now = os.stat(os.__file__)\n"
    "attempt(os.utime, os.__file__, ns=(now.st_atime_ns, now.st_mtime_ns))",
    "the modes of what all share": "attempt(os.chmod, os.__file__, os.stat(os.__file__).st_mode & 0o7777)",
    "a file in the root": "attempt(os.open, '/', os.O_TMPFILE | os.O_RDWR)",
    "a file in shared memory": "attempt(os.open, '/dev/shm', os.O_TMPFILE | os.O_RDWR)",
}

FILES = (
    [Attack(f"read {name}", f"attempt({words})") for name, words in (_READ | _FILES).items()]
    + [Attack(f"write {name}", code) for name, code in _WRITE.items()]
    + [
        Attack("find the banks and the service", "import importlib.util\n"
               "found = [n for n in ('bot', 'service', 'questions', 'dailygrad') if importlib.util.find_spec(n)]\n"
               "breach(found) if found else refused(OSError(2, ''))"),
        Attack("find the banks by walking", "import torch\nbeside = os.path.dirname(os.path.dirname(torch.__file__))\n"
               "def walk():\n    for name in ('questions', 'service', 'bot'):\n"
               "        for at in (beside, os.path.dirname(os.__file__)):\n"
               "            if os.path.isdir(f'{at}/{name}') and os.listdir(f'{at}/{name}'): return\n"
               "    raise OSError(2, '')\nattempt(walk)",
               uncontrolled="a checkout has no banks beside torch; test_jail shows that an installation's are hidden"),
        Attack("tell what is there by its errors", "import errno\nseen = set()\n"
               "for path in ('/root/.bashrc', '/home/x', '/etc/shadow', '/var/lib', '/srv', '/boot', '/opt/none'):\n"
               "    try: os.stat(path); seen.add(path)\n    except OSError as problem: last = problem\n"
               "breach(seen) if seen else refused(last)"),
        Attack("climb out of the scratch", "attempt(os.listdir, '/tmp/../../../../..')"),
        Attack("climb out of what is readable",
            "attempt(os.listdir, os.path.join(os.path.dirname(os.__file__), *['..'] * 9))"),
        Attack("go where we may not look", "os.chdir('/')\nattempt(os.listdir, '.')"),
    ]
)  # fmt: skip

_OTHERS = {
    "another's memory, read": (310, 270, "1, 0, 0, 0, 0, 0"),
    "another's memory, written": (311, 271, "1, 0, 0, 0, 0, 0"),
    "another's memory, advised": (440, 440, "0, 0, 0, 0, 0"),
    "another's memory, moved": (256, 238, "1, 0, 0, 0"),
    "another's pages, moved": (279, 239, "1, 0, 0, 0, 0, 0"),
    "another's memory, reaped": (448, 448, "0, 0"),
    "attach to a process": (101, 117, "16, 2, 0, 0"),
    "seize a process": (101, 117, "0x4206, 2, 0, 0"),
    "peek into a process": (101, 117, "2, 2, 0, 0"),
    "a copy of another's descriptor": (438, 438, "0, 0, 0"),
    "compare with another": (312, 272, "1, 1, 0, 0, 0"),
    "another's futexes": (274, 100, "1, 0, 0"),
    "shared memory of System V": (29, 194, "0, 4096, 0x3B6"),
    "semaphores of System V": (64, 190, "0, 1, 0x3B6"),
    "messages of System V": (68, 186, "0, 0x3B6"),
    "messages of POSIX": (240, 180, "b'x', 0x42, 0x180, 0"),
    "performance counters": (298, 241, "0, 0, 0, 0, 0"),
    "faults in user space": (323, 282, "1"),
    "a file of memory": (319, 279, "b'x', 0"),
    "a secret file of memory": (447, 447, "0"),
    "watch the files of all": (300, 262, "0, 0"),
    "watch files": (294, 26, "-1"),
    "see what is cached": (27, 232, "0, 0, 0"),
    "see what is cached of a file": (451, 451, "0, 0, 0, 0"),
}  # fmt: skip

PROCESSES = [Attack(name, f"call({x86}, {arm}, {words})") for name, (x86, arm, words) in _OTHERS.items()]

ATTACKS = FILES + PROCESSES
