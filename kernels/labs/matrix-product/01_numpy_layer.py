# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""The layer in NumPy: y = leaky_relu(x @ w + bias), with OpenBLAS or MKL behind `@`.

Prints one line of JSON for each size, which Lockstep puts into the timing plot:

    {"name": "n = 1024", "rung": "NumPy", "device": "...", "median_ms": 3.0, "gflops": 700.0, "samples": 10, "ok": true}

    python 01_numpy_layer.py [n ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

SIZES = [256, 1024, 2048]
SAMPLES = 10


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

import numpy as np


def right(x, w, bias, y):
    """Some rows against float64: a sum of n products rounds n times."""
    rows = slice(0, x.shape[0], max(1, x.shape[0] // 16))
    sums = x[rows].astype(np.float64) @ w.astype(np.float64) + bias
    scale = np.abs(x[rows]).astype(np.float64) @ np.abs(w).astype(np.float64) + np.abs(bias)
    want = np.where(sums < 0, 0.25 * sums, sums)
    return bool(np.all(np.abs(y[rows] - want) <= 6e-8 * x.shape[1] * scale))


def measure(n):
    rng = np.random.default_rng()
    x, w = rng.standard_normal((n, n), dtype=np.float32), rng.standard_normal((n, n), dtype=np.float32)
    bias = rng.standard_normal(n, dtype=np.float32)
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        #@ layer
        y = x @ w                                  # y: written
        y += bias                                  # y: read and written
        y = np.where(y < 0, 0.25 * y, y)           # y: read, and a new one written
        #@ end
        samples.append((time.perf_counter() - begun) * 1e3)
    ms = statistics.median(samples)
    return {"name": f"n = {n}", "rung": "NumPy", "device": platform.processor() or platform.machine(), "median_ms": ms,
            "gflops": 2 * n**3 / ms / 1e6, "samples": SAMPLES, "ok": right(x, w, bias, y)}


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = []
    for n in sizes or SIZES:
        results.append(measure(n))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
