"""What a run could leave to the next: each leaves something behind, then looks for it in a fresh run."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sandbox.attacks.attack import PRELUDE

_IMPORTS = "import builtins, gc, linecache, random, re, threading, warnings\nimport numpy, torch\n"


@dataclass(frozen=True, slots=True)
class Poison:
    """Two programs: the second prints BREACH when it finds what the first left. In one process it does."""

    name: str
    leave: str
    look: str
    """An expression, true where it is found."""

    @property
    def leaving(self) -> str:
        """The first program."""
        return f"{PRELUDE}{_IMPORTS}{self.leave}\n"

    @property
    def looking(self) -> str:
        """The second."""
        return f"{PRELUDE}{_IMPORTS}found = {self.look}\nbreach() if found else print('refused')\n"


POISONS = [
    Poison("a file", "open('/tmp/left', 'w').write('x')", "os.path.exists('/tmp/left')"),
    Poison("a folder", "os.mkdir('/tmp/left.d')", "'left.d' in os.listdir('/tmp')"),
    Poison("a name in builtins", "builtins.left = 1", "hasattr(builtins, 'left')"),
    Poison("a name in torch", "torch.left = 1", "hasattr(torch, 'left')"),
    Poison("torch.allclose", "torch.allclose = lambda *_: True", "torch.allclose(torch.ones(1), torch.zeros(1))"),
    Poison("a method of Tensor", "torch.Tensor.sum = lambda self: 42", "torch.ones(2).sum() == 42"),
    Poison("the default dtype", "torch.set_default_dtype(torch.float64)", "torch.ones(1).dtype is torch.float64"),
    Poison("gradients off", "torch.set_grad_enabled(False)", "not torch.is_grad_enabled()"),
    Poison("the number of threads", "torch.set_num_threads(3)", "torch.get_num_threads() == 3"),
    Poison("a mode", "torch.utils._python_dispatch.TorchDispatchMode().__enter__()",
           "torch._C._len_torch_dispatch_stack() > 0"),
    Poison("an operator", "left = torch.library.Library('left', 'DEF'); left.define('over(Tensor x) -> Tensor')",
           "hasattr(torch.ops.left, 'over')"),
    Poison("a hook on every module", "torch.nn.modules.module.register_module_forward_hook(lambda *_: None)",
           "len(torch.nn.modules.module._global_forward_hooks) > 0"),
    Poison("a module", "sys.modules['left'] = os", "'left' in sys.modules"),
    Poison("a false json", "sys.modules['json'] = os", "sys.modules.get('json') is os"),
    Poison("a finder of modules", "sys.meta_path.insert(0, type('Left', (), {}))",
           "any(getattr(one, '__name__', '') == 'Left' for one in sys.meta_path)"),
    Poison("a path of modules", "sys.path.insert(0, '/tmp/left')", "'/tmp/left' in sys.path"),
    Poison("a variable", "os.environ['LEFT'] = 'x'", "os.environ.get('LEFT') == 'x'"),
    Poison("a mask", "os.umask(0o123)", "os.umask(0) == 0o123"),
    Poison("another place", "os.mkdir('/tmp/left.p'); os.chdir('/tmp/left.p')",
        "os.path.basename(os.getcwd()) == 'left.p'"),
    Poison("a handler of signals", "import signal; signal.signal(10, lambda *_: None)",
           "callable(__import__('signal').getsignal(10))"),
    Poison("a lower limit", "resource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))",
           "resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 33"),
    Poison("a thread", "threading.Thread(target=__import__('time').sleep, args=(9,), name='left', daemon=True).start()",
           "any(one.name == 'left' for one in threading.enumerate())"),
    Poison("a trace", "sys.setprofile(lambda *_: None)", "sys.getprofile() is not None"),
    Poison("a line in the cache of lines", "linecache.cache['left'] = (0, None, [], 'left')",
        "'left' in linecache.cache"),
    Poison("a pattern in the cache of patterns", "re.compile('left[0]+')",
           "any('left[0]+' in key for key in re._cache if isinstance(key, tuple))"),
    Poison("a filter of warnings", "warnings.filterwarnings('ignore', 'left')",
           "any(one[1] is not None and one[1].pattern == 'left' for one in warnings.filters)"),
    Poison("the generators", "torch.manual_seed(123456789); random.seed(1); numpy.random.seed(1)",
           "torch.initial_seed() == 123456789"),
    Poison("a descriptor", "os.dup2(0, 55)", "libc.fcntl(55, 1) != -1"),
    Poison("code of torch in memory", "address = ctypes.cast(ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "
           "'lib', 'libtorch_cpu.so')).aoti_torch_device_type_cpu, ctypes.c_void_p).value\n"
           "libc.mprotect(ctypes.c_void_p(address & ~4095), ctypes.c_size_t(4096), 7)\n"
           # mov eax, 77; ret
           "ctypes.memmove(address, b'\\xb8\\x4d\\0\\0\\0\\xc3', 6)",
           "ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), 'lib', 'libtorch_cpu.so'))"
           ".aoti_torch_device_type_cpu() == 77"),
    Poison("the value of a small number", "ctypes.c_uint32.from_address(id(201) + 24).value = 202", "201 + 0 == 202"),
    Poison("what was freed", "x = [torch.full((1 << 10,), 1234.5) for _ in range(50)]; del x",
           "any((one == 1234.5).any() for one in [torch.empty(1 << 10) for _ in range(200)])"),
]  # fmt: skip
