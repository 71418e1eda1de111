# /// script
# requires-python = ">=3.9"
# dependencies = ["torch", "cupy-cuda13x"]
# ///
"""Kernels of a ladder beside what libraries in Python have for the same problem.

Lockstep runs this with the path of a plan: the compiled kernel, its launches and parameters at each size, and the rivals that
`ladder.toml` names, which are functions of the ladder's own `rivals.py`. All work on the same buffers in this process, taking
turns: the second-level cache is overwritten before each sample, which also keeps the GPU busy until everything behind it is
queued, so that no sample holds the time that Python takes. What fits into the cache is timed a second time with its data
there, as the mean of many launches in a row. Every result is compared with one in float64.

A ladder's `rivals.py` has

    def expected(case)       -> {"y": exact}, or {"y": (exact, indices)} with the flat indices of a sample of the elements;
                                `exact` is a float64 tensor
    def name_of_call(case)   -> a function that runs the rival once, into the output buffers, or returns what takes their place:
                                a tensor, or {"y": tensor}

where `case.buffers["x"]` is a tensor of the shape in `ladder.toml`, `case.sizes["n"]` a number, `case.scalars["scale"]` a
parameter, and `case.cupy("x")` the buffer for CuPy. A rival that cannot run here raises `case.Unavailable("why")`.
`LIMIT` is the largest error, relative in norm, that counts as right.

Prints one line of JSON for each size and contestant:

    {"name": "n = 1048576", "rung": "torch.sum", "device": "...", "median_ms": 0.01, "p20_ms": 0.01, "p80_ms": 0.01, "gbps": 420.0, "error": 1e-7, "ok": true}

Needs an NVIDIA GPU and torch; CuPy where a rival asks for it.
"""

import ctypes
import importlib.util
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


def said(message):
    print(message, file=sys.stderr)


def imported(name):
    try:
        return __import__(name)
    except (ImportError, OSError):
        return None


torch = imported("torch")
if torch is None:
    fail(f"torch is not found in {sys.executable}; install it with: python -m pip install torch")
if not torch.cuda.is_available():
    fail("PyTorch finds no GPU; the rivals run on an NVIDIA GPU only")

DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16,
    "i32": torch.int32, "u32": torch.int32, "i64": torch.int64, "u64": torch.int64, "bool": torch.bool,
}  # fmt: skip


class Driver:
    """The few functions of the CUDA driver that load, launch and time a kernel, on the default stream of the libraries' context."""

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

    def module(self, cubin):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def function(self, module, entry, dynamic_shared_bytes, cluster):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        if dynamic_shared_bytes > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, dynamic_shared_bytes)  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        if cluster > 8:
            self.call("cuFuncSetAttribute", function, 14, 1)  # NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        return function

    def event(self):
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def milliseconds(self, start, end):
        elapsed = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(elapsed), start, end)
        return elapsed.value

    def tensor_map(self, plan, address):
        """The 128 bytes of a tiled map, aligned to 64."""
        room = (ctypes.c_ubyte * 192)()
        place = (ctypes.addressof(room) + 63) & ~63
        rank = len(plan["sizes"])
        self.call(
            "cuTensorMapEncodeTiled", ctypes.c_void_p(place), plan["element"], rank, ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*plan["sizes"]), (ctypes.c_uint64 * max(rank - 1, 1))(*plan["strides_bytes"]),
            (ctypes.c_uint32 * rank)(*plan["tile"]), (ctypes.c_uint32 * rank)(*[1] * rank), 0, plan["swizzle"], 3,
            int(plan["nan_fill"]),
        )  # fmt: skip
        return room, place


class Dimension(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class AttributeValue(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("cluster", Dimension), ("number", ctypes.c_int)]


class Attribute(ctypes.Structure):
    """`CUlaunchAttribute`."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", AttributeValue)]


class Config(ctypes.Structure):
    """`CUlaunchConfig`."""

    _fields_ = [
        ("grid", Dimension), ("block", Dimension), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint),
    ]  # fmt: skip


driver = Driver()


class Unavailable(Exception):
    """A rival that cannot run on this machine, and why."""


class Case:
    """One size: the buffers that all contestants share."""

    Unavailable = Unavailable

    def __init__(self, plan):
        self.plan, self.name, self.sizes = plan, plan["name"], plan["sizes"]
        self.scalars = {param["name"]: param["value"] for param in plan["params"] if "value" in param}
        self.buffers, self.outputs = {}, []
        for param in plan["params"]:
            if "shape" not in param:
                continue
            self.buffers[param["name"]] = filled(param)
            if param["role"] == "out":
                self.outputs.append(param["name"])

    def cupy(self, name):
        cupy = imported("cupy")
        if cupy is None:
            raise Unavailable("CuPy is not installed: python -m pip install cupy-cuda13x")
        return cupy.from_dlpack(self.buffers[name])

    def forget(self):
        """What is left unwritten shows."""
        for name in self.outputs:
            buffer = self.buffers[name]
            buffer.view(torch.uint8).fill_(0xFF)


def filled(param):
    dtype, shape, fill = DTYPES[param["dtype"]], param["shape"], param["fill"]
    kind = fill["kind"]
    if kind == "none":
        return torch.empty(shape, dtype=dtype, device="cuda")
    if kind == "constant":
        return torch.full(shape, fill["value"], device="cuda").to(dtype)
    if kind == "normal":
        return torch.randn(shape, device="cuda").mul_(fill["std"]).add_(fill["mean"]).to(dtype)
    if kind == "uniform":
        return torch.rand(shape, device="cuda").mul_(fill["high"] - fill["low"]).add_(fill["low"]).to(dtype)
    if kind == "index":
        return torch.arange(torch.Size(shape).numel(), device="cuda").to(dtype).reshape(shape)
    if kind == "integers":
        return torch.randint(fill["low"], fill["high"] + 1, shape, device="cuda").to(dtype)
    fail(f"`{param['name']}` is filled by `{kind}`, which the rivals' script does not know")


def launcher(case, functions):
    """What queues the kernel's launches, one after the other."""
    kept, launches = [], []
    for launch, function in zip(case.plan["launches"], functions):
        pointers = []
        for argument in launch["arguments"]:
            if "buffer" in argument:
                value = ctypes.c_uint64(case.buffers[argument["buffer"]].data_ptr())
                address = ctypes.addressof(value)
            elif "map" in argument:
                value, address = driver.tensor_map(argument["map"], case.buffers[argument["map"]["buffer"]].data_ptr())
            else:
                value = (ctypes.c_ubyte * len(argument["bytes"]))(*argument["bytes"])
                address = ctypes.addressof(value)
            kept.append(value)
            pointers.append(address)
        attributes = []
        if launch["cluster"] != [1, 1, 1]:
            attributes.append(Attribute(4, b"", AttributeValue(cluster=Dimension(*launch["cluster"]))))
        if launch["cooperative"]:
            attributes.append(Attribute(2, b"", AttributeValue(number=1)))
        listed = (Attribute * max(len(attributes), 1))(*attributes)
        config = Config(
            Dimension(*launch["grid"]), Dimension(*launch["block"]), launch["dynamic_shared_bytes"], None, listed, len(attributes)
        )
        packed = (ctypes.c_void_p * max(len(pointers), 1))(*pointers)
        kept += [listed, config, packed]
        launches.append((ctypes.byref(config), function, packed))
    queue = driver.cuda.cuLaunchKernelEx

    def run(keep=kept):
        for config, function, packed in launches:
            status = queue(config, function, packed, None)
            if status:
                fail(f"the kernel cannot be launched (error {status})")

    return run


def finished():
    driver.call("cuCtxSynchronize")


def worst_error(case, result, expected):
    """The largest error of an output, relative in norm; infinite where something is no number or missing."""
    if isinstance(result, torch.Tensor) or hasattr(result, "__dlpack__"):
        result = {next(iter(expected)): torch.as_tensor(result, device="cuda")}
    worst = 0.0
    for name, exact in expected.items():
        got = (result or {}).get(name, case.buffers[name])
        exact, indices = exact if isinstance(exact, tuple) else (exact, None)
        got = got.reshape(-1)
        got = (got if indices is None else got[indices]).double()
        exact = exact.reshape(-1)
        size = float(torch.linalg.vector_norm(exact))
        error = float(torch.linalg.vector_norm(got - exact)) / (size or 1.0)
        worst = max(worst, error) if error == error else float("inf")
    return worst


def samples_of(contestants, flush, warm):
    """Milliseconds of a launch, a list for each contestant, taken in turns."""
    names = list(contestants)
    events = {name: (driver.event(), driver.event()) for name in names}
    samples = {name: [] for name in names}
    launches = WARM_LAUNCHES if warm else 1
    started = time.perf_counter()
    for turn in range(-3, MOST_ROUNDS):
        for at in range(len(names)):
            # Another one begins every round, so that none always follows the same neighbor.
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


def measure(plan, modules, ladder, plan_of_case):
    case = Case(plan_of_case)
    functions = [
        driver.function(modules[0], launch["entry"], launch["dynamic_shared_bytes"], launch["cluster"][0] * launch["cluster"][1] * launch["cluster"][2])
        for launch in plan_of_case["launches"]
    ]  # fmt: skip
    contestants = {plan["kernel"]["name"]: launcher(case, functions)}
    for rival in plan["rivals"]:
        call = getattr(ladder, rival["call"], None)
        if call is None:
            fail(f"the ladder's rivals.py has no function `{rival['call']}`")
        try:
            contestants[rival["name"]] = call(case)
        except (Unavailable, ImportError) as why:
            said(f"{rival['name']} at {case.name}: {why}")
    expected, limit = ladder.expected(case), getattr(ladder, "LIMIT", 1e-5)
    errors = {}
    for name in list(contestants):
        case.forget()
        try:
            result = contestants[name]()
        except (Unavailable, ImportError) as why:
            said(f"{name} at {case.name}: {why}")
            del contestants[name]
            continue
        except RuntimeError as why:
            said(f"{name} at {case.name} failed: {str(why).splitlines()[0]}")
            del contestants[name]
            continue
        finished()
        errors[name] = worst_error(case, result, expected)
    scratch = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    address, value = ctypes.c_uint64(scratch.data_ptr()), ctypes.c_ubyte(1)
    size, none = ctypes.c_size_t(FLUSH_BYTES), ctypes.c_void_p()
    flush = lambda: driver.call("cuMemsetD8Async", address, value, size, none)
    in_cache = case.plan["bytes"] and case.plan["bytes"] <= torch.cuda.get_device_properties(0).L2_cache_size // 2
    for warm in [False, True] if in_cache else [False]:
        for name, series in samples_of(contestants, flush, warm).items():
            series.sort()
            median = statistics.median(series)
            print(json.dumps({
                "name": case.name + (", in the cache" if warm else ""), "rung": name, "device": torch.cuda.get_device_name(0),
                "median_ms": median, "p20_ms": series[len(series) // 5], "p80_ms": series[len(series) * 4 // 5],
                "samples": len(series), "gbps": case.plan["bytes"] / median / 1e6, "gflops": case.plan["flops"] / median / 1e6 or None,
                "relative_error": errors[name] if errors[name] != float("inf") else None, "ok": errors[name] <= limit,
            }), flush=True)  # fmt: skip
    return all(error <= limit for error in errors.values())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        fail("usage: python rivals.py PLAN")
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    described = importlib.util.spec_from_file_location("ladder", plan["module"])
    ladder = importlib.util.module_from_spec(described)
    described.loader.exec_module(ladder)
    torch.cuda.init()
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")  # makes the context current that both libraries use
    with open(plan["kernel"]["cubin"], "rb") as file:
        modules = [driver.module(file.read())]
    right = [measure(plan, modules, ladder, case) for case in plan["cases"]]
    sys.exit(0 if all(right) else 1)
