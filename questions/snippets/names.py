"""Which names a program uses and binds at its top, and which of the others everybody knows where to import."""

from __future__ import annotations

import ast
import builtins
import symtable

IMPORTS = {
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "optim": "import torch.optim as optim",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "dist": "import torch.distributed as dist",
    "mp": "import torch.multiprocessing as mp",
    "DDP": "from torch.nn.parallel import DistributedDataParallel as DDP",
    "FSDP": "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP",
    "torchvision": "import torchvision",
    "Tensor": "from torch import Tensor",
    "Variable": "from torch.autograd import Variable",
    "Parameter": "from torch.nn import Parameter",
    "record_function": "from torch.profiler import record_function",
    "ProfilerActivity": "from torch.profiler import ProfilerActivity",
    "autocast": "from torch.amp import autocast",
    "GradScaler": "from torch.amp import GradScaler",
    **{
        name: f"from torch.utils.data import {name}"
        for name in (
            "DataLoader",
            "Dataset",
            "IterableDataset",
            "TensorDataset",
            "Subset",
            "ConcatDataset",
            "Sampler",
            "RandomSampler",
            "SequentialSampler",
            "WeightedRandomSampler",
            "DistributedSampler",
            "random_split",
        )
    },
    **{
        name: f"from torch.nn.utils.rnn import {name}"
        for name in ("pad_sequence", "pack_padded_sequence", "pad_packed_sequence", "pack_sequence")
    },
    **{name: f"from torch.optim.lr_scheduler import {name}" for name in ("StepLR", "LambdaLR", "CosineAnnealingLR")},
    **{
        name: f"import {name}"
        for name in (
            *("math", "os", "sys", "time", "random", "copy", "json", "re", "io", "gc", "itertools", "functools"),
            *("collections", "contextlib", "inspect", "logging", "warnings", "pickle"),
            *("typing", "tempfile", "timeit"),
        )
    },
    **{name: f"from functools import {name}" for name in ("partial", "lru_cache", "reduce", "wraps")},
    **{
        name: f"from collections import {name}"
        for name in ("defaultdict", "OrderedDict", "Counter", "deque", "namedtuple")
    },
    "dataclass": "from dataclasses import dataclass",
    **{
        name: f"from typing import {name}" for name in ("Any", "Callable", "Optional", "Union", "List", "Dict", "Tuple")
    },
    "Path": "from pathlib import Path",
    "deepcopy": "from copy import deepcopy",
    "contextmanager": "from contextlib import contextmanager",
    "ABC": "from abc import ABC",
}
"""How a well-known name is imported."""

_ALWAYS = frozenset(
    (*dir(builtins), "__name__", "__file__", "__doc__", "__annotations__", "__builtins__", "display", "get_ipython")
)


def bound_names(text: str) -> frozenset[str]:
    """The names a program binds at its top."""
    return _names(text)[0]


def free_names(text: str) -> frozenset[str]:
    """The names a program takes from its surroundings: used anywhere, bound nowhere at its top."""
    bound, used = _names(text)
    return used - bound - _ALWAYS


def imports_something(tree: ast.Module) -> bool:
    """Whether a program has an import of its own: it means to be complete."""
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    try:
        top = symtable.symtable(text, "<snippet>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(), frozenset()
    bound: set[str] = set()
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is top or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported() or (table is top and symbol.is_namespace()):
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    used.add(symbol.get_name())
    return frozenset(bound), frozenset(used)
