# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""The sum on one CPU thread, with NumPy, which adds in vectors and in one thread.

Prints one line of JSON for each size, which Lockstep puts into the timing plot:

    {"name": "n = 16777216", "rung": "NumPy, one thread", "device": "...", "median_ms": 4.0, "gbps": 16.8, "samples": 20, "ok": true}

    python 01_numpy_sum.py [n ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

SIZES = [1 << 16, 1 << 24, 1 << 27]
SAMPLES = 20


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy, one thread", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

import numpy as np


def measure(n):
    x = np.random.default_rng().standard_normal(n, dtype=np.float32)
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        #@ sum
        total = x.sum()        # float32, pairwise: short sums, added up as a tree
        #@ end
        samples.append((time.perf_counter() - begun) * 1e3)
    ms = statistics.median(samples)
    ok = bool(abs(float(total) - x.sum(dtype=np.float64)) <= 1e-5 * np.abs(x).sum(dtype=np.float64))
    return {"name": f"n = {n}", "rung": "NumPy, one thread", "device": platform.processor() or platform.machine(),
            "median_ms": ms, "gbps": 4 * n / ms / 1e6, "samples": SAMPLES, "ok": ok}


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
