# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""The same product in NumPy: one line, and a library behind it.

`a @ b` hands the work to a BLAS (OpenBLAS, MKL or Accelerate, whichever NumPy was built with), which uses SIMD
instructions and all cores. Prints one line of JSON for each size, which Lockstep puts into the timing plot:

    {"name": "n = 1024", "rung": "NumPy", "device": "...", "median_ms": 4.2, "gflops": 511.3, "samples": 20, "ok": true}

Without numpy it says what is missing, and how to get it.

    python 01_numpy_baseline.py [n ...]
"""

import importlib.util
import json
import os
import platform
import statistics
import sys
import time

SIZES = [512, 1024]
SAMPLES = 20
# Longest that one size may take, in seconds: NumPy built without a BLAS is slow.
PATIENCE_S = 5.0


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

try:
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"numpy is installed in {sys.executable} but cannot be loaded: {error}")


def processor():
    """The processor's name, as Linux tells it, or what Python knows."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def measure(n):
    rng = np.random.default_rng()
    a = rng.standard_normal((n, n), dtype=np.float32)
    b = rng.standard_normal((n, n), dtype=np.float32)
    #@ product
    c = a @ b
    #@ end
    # Some rows against float64. A sum of n products rounds n times, each time by at most 6e-8 of what it holds.
    rows = slice(0, n, max(1, n // 16))
    want = a[rows].astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a[rows]).astype(np.float64) @ np.abs(b).astype(np.float64)
    ok = bool(np.all(np.abs(c[rows] - want) <= 6e-8 * n * scale))
    samples, started = [], time.perf_counter()
    while len(samples) < SAMPLES and (len(samples) < 3 or time.perf_counter() - started < PATIENCE_S):
        #@ timing
        begun = time.perf_counter()
        a @ b
        samples.append((time.perf_counter() - begun) * 1e3)
        #@ end
    ms = statistics.median(samples)
    gflops = 2 * n**3 / (ms * 1e6)
    return {"name": f"n = {n}", "rung": "NumPy", "device": processor(), "median_ms": ms, "gflops": gflops,
            "samples": len(samples), "ok": ok}


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1024")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = []
    for n in sizes or SIZES:
        results.append(measure(n))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
