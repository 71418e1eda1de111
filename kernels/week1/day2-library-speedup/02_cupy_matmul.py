# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "cupy-cuda13x"]
# ///
"""The same product in CuPy: NumPy's words, cuBLAS behind them.

Times `a @ b` twice: with the matrices on the GPU all the time, and with both copied there, and the result copied back,
in every iteration. Prints one line of JSON for each size and way, which Lockstep puts into the timing plot:

    {"name": "n = 1024", "rung": "CuPy, data stays", "device": "...", "median_ms": 0.08, "gflops": 26800.0, "samples": 50, "ok": true}

It needs an NVIDIA GPU. Without one, or without cupy, it says so.

    python 02_cupy_matmul.py [n ...]
"""

import importlib.util
import json
import statistics
import sys
import time

SIZES = [1024, 4096]
SAMPLES = 50
WARM_UP = 5


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


def median_ms(work):
    """Median wall-clock time, waiting for the GPU before the clock starts and before it stops."""
    for _ in range(WARM_UP):
        work()
    samples = []
    for _ in range(SAMPLES):
        #@ timing
        cp.cuda.Device().synchronize()
        begun = time.perf_counter()
        work()
        cp.cuda.Device().synchronize()
        samples.append((time.perf_counter() - begun) * 1e3)
        #@ end
    return statistics.median(samples)


def measure(n):
    rng = np.random.default_rng()
    a = rng.standard_normal((n, n), dtype=np.float32)
    b = rng.standard_normal((n, n), dtype=np.float32)
    #@ ways
    a_there, b_there = cp.asarray(a), cp.asarray(b)      # copied once
    stays = lambda: a_there @ b_there
    copies = lambda: cp.asnumpy(cp.asarray(a) @ cp.asarray(b))
    #@ end
    # Some rows against float64; a sum of n products rounds n times.
    rows = slice(0, n, max(1, n // 16))
    want = a[rows].astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a[rows]).astype(np.float64) @ np.abs(b).astype(np.float64)
    for rung, work in [("CuPy, data stays", stays), ("CuPy, copies each time", copies)]:
        ok = bool(np.all(np.abs(cp.asnumpy(work())[rows] - want) <= 6e-8 * n * scale))
        ms = median_ms(work)
        result = {"name": f"n = {n}", "rung": rung, "device": device, "median_ms": ms,
                  "gflops": 2 * n**3 / (ms * 1e6), "samples": SAMPLES, "ok": ok}
        print(json.dumps(result), flush=True)
        yield ok


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1024")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = [ok for n in sizes or SIZES for ok in measure(n)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
