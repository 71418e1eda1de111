"""Loads this package's cubins and launches their kernels on PyTorch's current stream.

Only the driver's own library is needed (libcuda.so.1, nvcuda.dll): no CUDA toolkit, no compiler. A launch neither waits for
the GPU nor reads anything from it, so it can be recorded in a CUDA graph.
"""

import ctypes
import functools
import importlib.resources
import json
import sys

import torch

MANIFEST = json.loads((importlib.resources.files(__package__) / "manifest.json").read_text())
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


@functools.cache
def _driver():
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def _call(name, *arguments):
    status = getattr(_driver(), name)(*arguments)
    if status != 0:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{name} failed: {(text.value or b'').decode()} ({status})")


def _rank(arch, major, minor):
    """How well a cubin suits a GPU: None where it cannot run there."""
    number = arch.removeprefix("sm_")
    suffix = number[-1] if number[-1].isalpha() else ""
    number = int(number.rstrip("af"))
    here = 10 * major + minor
    if suffix == "a":
        return 1000 + number if number == here else None
    # Within one major version code runs on every later minor version.
    return number if number // 10 == major and number <= here else None


def best_cubin(major, minor):
    """The architecture of the package's cubins that is the best for a GPU of this compute capability."""
    ranked = [(_rank(arch, major, minor), arch) for arch in MANIFEST["cubins"]]
    ranked = [pair for pair in ranked if pair[0] is not None]
    if not ranked:
        raise RuntimeError(
            f"no cubin of this package runs on compute capability {major}.{minor}; it has {', '.join(MANIFEST['cubins'])}: "
            f"export it again with --arch sm_{major}{minor}"
        )
    return max(ranked)[1]


@functools.cache
def _module(device):
    major, minor = torch.cuda.get_device_capability(device)
    name = MANIFEST["cubins"][best_cubin(major, minor)]
    image = (importlib.resources.files(__package__) / name).read_bytes()
    with torch.cuda.device(device):
        torch.cuda.current_stream()  # PyTorch makes the context
        module = ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(module), image)
    return module


@functools.cache
def _function(device, entry, dynamic_shared_bytes):
    function = ctypes.c_void_p()
    _call("cuModuleGetFunction", ctypes.byref(function), _module(device), entry.encode())
    if dynamic_shared_bytes > 48 * 1024:
        _call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, dynamic_shared_bytes)
    return function


def launch(device, entry, grid, block, dynamic_shared_bytes, arguments):
    """`arguments`: tensors, or ctypes numbers, in the kernel's order."""
    values = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else a for a in arguments]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
    with torch.cuda.device(device):
        function = _function(device.index, entry, dynamic_shared_bytes)
        stream = ctypes.c_void_p(torch.cuda.current_stream(device).cuda_stream)
        _call("cuLaunchKernel", function, *grid, *block, dynamic_shared_bytes, stream, pointers, None)


# What shapes and launches are written in.


def ceil_div(a, b):
    return (a + b - 1) // b


def round_up(a, b):
    return ceil_div(a, b) * b


def require(condition, message):
    if not condition:
        raise ValueError(message)
