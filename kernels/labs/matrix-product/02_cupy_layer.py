# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "cupy-cuda13x"]
# ///
"""The layer in CuPy: cuBLAS for the product, then one fused kernel for bias and activation.

`cupy.fuse` makes one kernel of several element-wise operations; it cannot put them into cuBLAS's product. Prints one line
of JSON for each size and way, which Lockstep puts into the timing plot. It needs an NVIDIA GPU. Without one, or without
cupy, it says so.

    python 02_cupy_layer.py [n ...]
"""

import importlib.util
import json
import statistics
import sys

SIZES = [1024, 4096]
SAMPLES = 50


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "CuPy", "ok": False, "error": message}))
    sys.exit(2)


for name, package in [("numpy", "numpy"), ("cupy", "cupy-cuda13x")]:
    if importlib.util.find_spec(name) is None:
        fail(f"{name} not found in {sys.executable}; install with: python -m pip install {package}")

try:
    import cupy as cp
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"cupy is installed in {sys.executable} but cannot be loaded: {error}")

try:
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
except cp.cuda.runtime.CUDARuntimeError as error:
    fail(f"CuPy finds no GPU ({error}); the CUDA kernels of this course run on the emulator, CuPy does not")


#@ layer
@cp.fuse()
def epilogue(sums, bias):
    v = sums + bias
    return cp.where(v < 0, 0.25 * v, v)
#@ end


def right(x, w, bias, y):
    """Some rows against float64: a sum of n products rounds n times."""
    rows = slice(0, x.shape[0], max(1, x.shape[0] // 16))
    sums = x[rows].astype(np.float64) @ w.astype(np.float64) + bias
    scale = np.abs(x[rows]).astype(np.float64) @ np.abs(w).astype(np.float64) + np.abs(bias)
    want = np.where(sums < 0, 0.25 * sums, sums)
    return bool(np.all(np.abs(y[rows] - want) <= 6e-8 * x.shape[1] * scale))


def measure(n):
    rng = np.random.default_rng()
    host = [rng.standard_normal(shape, dtype=np.float32) for shape in ((n, n), (n, n), (n,))]
    x, w, bias = (cp.asarray(array) for array in host)
    ways = [
        ("CuPy, three kernels", lambda: (lambda v: cp.where(v < 0, cp.float32(0.25) * v, v))(x @ w + bias)),
        ("CuPy, fused epilogue", lambda: epilogue(x @ w, bias)),
    ]
    for rung, layer in ways:
        y = layer()
        samples = []
        for _ in range(SAMPLES):
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            y = layer()
            end.record()
            end.synchronize()
            samples.append(cp.cuda.get_elapsed_time(start, end))
        ms = statistics.median(samples)
        yield {"name": f"n = {n}", "rung": rung, "device": device, "median_ms": ms, "gflops": 2 * n**3 / ms / 1e6,
               "samples": SAMPLES, "ok": right(*host, cp.asnumpy(y))}


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = []
    for n in sizes or SIZES:
        for result in measure(n):
            results.append(result)
            print(json.dumps(result), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
