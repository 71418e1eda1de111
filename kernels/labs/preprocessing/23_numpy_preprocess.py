# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""Image to tensor in NumPy: three lines, three passes over memory.

Prints one line of JSON for each number of pixels:

    {"name": "n = 1048576", "rung": "NumPy", "device": "...", "median_ms": 9.8, "samples": 10, "ok": true, "gbytes_per_s": 1.6}

    python 23_numpy_preprocess.py [pixels ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

PIXELS = [1 << 18, 1 << 20, 1 << 22]
SAMPLES = 10


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


#@ preprocess
def preprocess(pixels, mean, scale):
    floats = pixels.astype(np.float32)
    normalized = (floats - mean) * scale
    return np.ascontiguousarray(normalized.T)
#@ end


def measure(n):
    rng = np.random.default_rng()
    pixels = rng.integers(-128, 128, size=(n, 3), dtype=np.int8)
    mean = rng.uniform(-40, 40, 3).astype(np.float32)
    scale = rng.uniform(0.01, 0.03, 3).astype(np.float32)
    y = preprocess(pixels, mean, scale)
    # Some pixels one by one, in float64.
    ok = y.shape == (3, n)
    for p in range(0, n, max(1, n // 64)):
        want = (pixels[p].astype(np.float64) - mean) * scale
        ok = ok and bool(np.allclose(y[:, p], want, atol=2e-6))
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        preprocess(pixels, mean, scale)
        samples.append((time.perf_counter() - begun) * 1e3)
    median = statistics.median(samples)
    return {"name": f"n = {n}", "rung": "NumPy", "device": platform.machine(), "median_ms": median,
            "samples": SAMPLES, "ok": ok, "gbytes_per_s": round(15 * n / median / 1e6, 2)}


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected numbers of pixels, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected numbers of pixels of at least 1")
    results = []
    for n in sizes or PIXELS:
        results.append(measure(n))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
