# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "cupy-cuda13x"]
# ///
"""The sum in CuPy: NumPy's words, a tuned reduction of the library behind them.

Prints one line of JSON for each size, which Lockstep puts into the timing plot. It needs an NVIDIA GPU. Without one, or
without cupy, it says so.

    python 02_cupy_sum.py [n ...]
"""

import importlib.util
import json
import statistics
import sys

SIZES = [1 << 16, 1 << 24, 1 << 28]
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
except (ImportError, OSError) as error:
    fail(f"cupy is installed in {sys.executable} but cannot be loaded: {error}")

try:
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
except cp.cuda.runtime.CUDARuntimeError as error:
    fail(f"CuPy finds no GPU ({error}); the CUDA kernels of this course run on the emulator, CuPy does not")


def measure(n):
    x = cp.random.standard_normal(n, dtype=cp.float32)
    flush = cp.empty(256 << 20, dtype=cp.uint8)
    total = x.sum()
    samples = []
    for _ in range(SAMPLES):
        flush.fill(0)          # x must come from memory, not from the L2 cache
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        #@ sum
        total = x.sum()
        #@ end
        end.record()
        end.synchronize()
        samples.append(cp.cuda.get_elapsed_time(start, end))
    ms = statistics.median(samples)
    ok = abs(float(total) - float(x.sum(dtype=cp.float64))) <= 1e-5 * float(cp.abs(x).sum(dtype=cp.float64))
    return {"name": f"n = {n}", "rung": "CuPy", "device": device, "median_ms": ms, "gbps": 4 * n / ms / 1e6,
            "samples": SAMPLES, "ok": bool(ok)}


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
