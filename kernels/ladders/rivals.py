# /// script
# requires-python = ">=3.9"
# dependencies = ["torch", "cupy-cuda13x"]
# ///
"""Kernels of a ladder beside what PyTorch and CUB (through CuPy) have for the same problem.

Lockstep runs this with the path of a plan: the compiled kernels, their launches and their parameters at each size. All
work on the same buffers in this process, taking turns: the second-level cache is overwritten before each sample, which
also keeps the GPU busy until everything behind it is queued, so that no sample holds the time that Python takes. What
fits into the cache is timed a second time with its data there, as the mean of many launches in a row. Every result is
compared with one in float64.

Prints one line of JSON for each size and contestant:

    {"name": "n = 1048576", "rung": "torch.sum", "device": "...", "median_ms": 0.01, "p20_ms": 0.01, "p80_ms": 0.01, "gbps": 420.0, "ok": true}

Needs an NVIDIA GPU and torch or cupy, better both.
"""

import ctypes
import json
import os
import statistics
import sys
import time

os.environ.setdefault("CUPY_ACCELERATORS", "cub")  # cupy.sum then is cub::DeviceReduce::Sum

FLUSH_BYTES = 512 << 20  # several times any second-level cache, and 0.1 ms or more of work
SECONDS = 1.5  # for each size and state of the cache
LEAST_ROUNDS, MOST_ROUNDS = 20, 300
WARM_LAUNCHES = 20


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "rivals", "ok": False, "error": message}))
    sys.exit(2)


def imported(name):
    try:
        return __import__(name)
    except (ImportError, OSError):
        return None


torch, cupy = imported("torch"), imported("cupy")
if torch is None and cupy is None:
    fail(f"neither torch nor cupy found in {sys.executable}; install with: python -m pip install torch cupy-cuda13x")
if torch is not None and not torch.cuda.is_available():
    fail("PyTorch finds no GPU; the rivals run on an NVIDIA GPU only")


class Driver:
    """The few functions of the CUDA driver that load and time a kernel, on the default stream of the libraries' context."""

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        except OSError as error:
            fail(f"NVIDIA's driver library cannot be loaded ({error})")

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            fail(f"{name}: {(text.value or b'unknown error').decode()} ({status})")

    def function(self, cubin, entry):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        return function

    def event(self):
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def milliseconds(self, start, end):
        elapsed = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(elapsed), start, end)
        return elapsed.value


driver = Driver()


def device_name():
    if torch is not None:
        return torch.cuda.get_device_name(0)
    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def l2_bytes():
    if torch is not None:
        return torch.cuda.get_device_properties(0).L2_cache_size
    return cupy.cuda.runtime.getDeviceProperties(0)["l2CacheSize"]


class Buffer:
    """Floats on the GPU, known to both libraries."""

    def __init__(self, elements, normal):
        if torch is not None:
            self.torch = torch.randn(elements, device="cuda") if normal else torch.full((elements,), float("nan"), device="cuda")
            self.cupy = cupy.from_dlpack(self.torch) if cupy is not None else None
            self.address = self.torch.data_ptr()
        else:
            self.cupy = cupy.random.standard_normal(elements, dtype="f4") if normal else cupy.full(elements, cupy.nan, dtype="f4")
            self.torch, self.address = None, self.cupy.data.ptr

    @property
    def any(self):
        return self.torch if self.torch is not None else self.cupy


def as_double(array):
    return array.double() if torch is not None and isinstance(array, torch.Tensor) else array.astype("f8")


def sum_of(buffers):
    """For each rival what runs it, and for any contestant whether what it left is right."""
    x, y = buffers["x"], buffers["y"]
    exact, size = float(as_double(x.any).sum()), float(abs(as_double(x.any)).sum())
    rivals, made = {}, {}
    if torch is not None:
        scalar = y.torch.reshape(())
        rivals["torch.sum"] = lambda: torch.sum(x.torch, dim=0, out=scalar)
    if cupy is not None:
        # Given an output, CuPy would copy the result there in a launch of its own.
        rivals["CUB, by cupy.sum"] = lambda: made.update(sum=cupy.sum(x.cupy))

    def right():
        result = made.pop("sum", None)
        return abs(float(y.any[0] if result is None else result) - exact) <= 1e-5 * size

    return rivals, y, right


def vector_add_of(buffers):
    a, b, c = (buffers[name].any for name in "abc")
    rivals = {}
    if torch is not None:
        rivals["torch.add"] = lambda: torch.add(buffers["a"].torch, buffers["b"].torch, out=buffers["c"].torch)
    if cupy is not None:
        rivals["cupy.add"] = lambda: cupy.add(buffers["a"].cupy, buffers["b"].cupy, out=buffers["c"].cupy)
    step = 1 << 24  # copies in float64 of a part at a time

    def right():
        for i in range(0, len(a), step):
            x, y, sum = (as_double(part[i : i + step]) for part in (a, b, c))
            if not bool((abs(sum - (x + y)) <= 6e-8 * abs(x + y) + 1e-30).all()):
                return False
        return True

    return rivals, buffers["c"], right


PROBLEMS = {"sum": sum_of, "vector_add": vector_add_of}


def launcher(function, case, launch, buffers):
    """What queues the kernel with its parameters, in the shape of `launch`."""
    values = []
    for parameter in case["params"]:
        if parameter["name"] in buffers:
            values.append(ctypes.c_uint64(buffers[parameter["name"]].address))
        else:
            values.append({"i32": ctypes.c_int32, "i64": ctypes.c_int64, "u32": ctypes.c_uint32}[parameter["dtype"]](parameter["value"]))
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    shape = [ctypes.c_uint(number) for number in launch["grid"] + launch["block"] + [launch["dynamic_shared_bytes"]]]
    queue, none = driver.cuda.cuLaunchKernel, ctypes.c_void_p()

    def run(keep=values):
        status = queue(function, *shape, none, pointers, none)
        if status:
            fail(f"the kernel cannot be launched (error {status})")

    return run


def finished():
    driver.call("cuCtxSynchronize")


def samples_of(contestants, flush, warm):
    """Milliseconds of a launch, a list for each contestant, taken in turns."""
    names = list(contestants)
    events = {name: (driver.event(), driver.event()) for name in names}
    samples = {name: [] for name in names}
    launches = WARM_LAUNCHES if warm else 1
    started = time.perf_counter()
    for turn in range(-3, MOST_ROUNDS):
        for at in range(len(names)):
            # Another one begins every round, so that none always follows the same neighbour.
            name = names[(at + turn) % len(names)]
            run, (start, end) = contestants[name], events[name]
            for _ in range(6 if warm else 1):
                flush()
            for _ in range(3 if warm else 0):
                run()
            driver.call("cuEventRecord", start, None)
            for _ in range(launches):
                run()
            driver.call("cuEventRecord", end, None)
        finished()
        if turn < 0:
            continue
        for name in names:
            samples[name].append(driver.milliseconds(*events[name]) / launches)
        if turn + 1 >= LEAST_ROUNDS and time.perf_counter() - started > SECONDS:
            break
    return samples


def measure(plan, functions, case):
    buffers = {
        parameter["name"]: Buffer(parameter["elements"], parameter["role"] == "in")
        for parameter in case["params"]
        if "elements" in parameter
    }
    rivals, output, right = PROBLEMS[plan["problem"]](buffers)
    kernels = zip(plan["kernels"], functions, case["launches"])
    contestants = {kernel["name"]: launcher(function, case, launch, buffers) for kernel, function, launch in kernels}
    contestants.update(rivals)
    ok = {}
    for name, run in contestants.items():
        output.any[:] = float("nan")  # what is left unwritten shows
        run()
        finished()
        ok[name] = right()
    scratch = Buffer(FLUSH_BYTES // 4, False)
    finished()
    address, value = ctypes.c_uint64(scratch.address), ctypes.c_ubyte(1)
    size, none = ctypes.c_size_t(FLUSH_BYTES), ctypes.c_void_p()
    flush = lambda: driver.call("cuMemsetD8Async", address, value, size, none)
    for warm in [False, True] if case["bytes"] <= l2_bytes() // 2 else [False]:
        for name, series in samples_of(contestants, flush, warm).items():
            series.sort()
            median = statistics.median(series)
            print(json.dumps({
                "name": case["name"] + (", in the cache" if warm else ""), "rung": name, "device": device_name(),
                "median_ms": median, "p20_ms": series[len(series) // 5], "p80_ms": series[len(series) * 4 // 5],
                "samples": len(series), "gbps": case["bytes"] / median / 1e6, "ok": ok[name],
            }))
    return all(ok.values())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        fail("usage: python rivals.py PLAN")
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    if plan["problem"] not in PROBLEMS:
        fail(f"no rivals are known for {plan['problem']}; there are some for {', '.join(PROBLEMS)}")
    (torch.cuda.init() if torch is not None else cupy.cuda.Device(0).use())
    Buffer(1, False)  # makes the context current that both libraries use
    functions = []
    for kernel in plan["kernels"]:
        with open(kernel["cubin"], "rb") as file:
            functions.append(driver.function(file.read(), kernel["entry"]))
    right = [measure(plan, functions, case) for case in plan["cases"]]
    sys.exit(0 if all(right) else 1)
