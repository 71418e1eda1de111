# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""NVFP4 in NumPy, in two ways: with the block scale as it was stored, and with the ideal one.

Prints one line of JSON for each, which Lockstep puts into the timing plot:

    {"name": "stored scale", "rung": "NumPy NVFP4", "device": "...", "median_ms": 30.2, "sqnr_db": 20.4, ...}

Without numpy it says what is missing, and how to get it.

    python 01_nvfp4.py [rows columns]
"""

import importlib.util
import json
import os
import platform
import statistics
import sys
import time

SAMPLES = 5


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy NVFP4", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

try:
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"numpy is installed in {sys.executable} but cannot be loaded: {error}")


#@ formats
def e4m3(x):
    """Positive numbers rounded to e4m3: steps of 2^-9 below 2^-6, then an eighth of the power of two below x."""
    exponent = np.maximum(np.frexp(x)[1] - 1, -6)
    step = np.ldexp(np.float32(1), exponent - 3)
    return np.minimum(np.rint(x / step) * step, np.float32(448))


def e2m1(x):
    """Rounded to 0, 0.5, 1, 1.5, 2, 3, 4 or 6, with the sign. rint takes the even number, as the format does."""
    magnitude = np.abs(x)
    step = np.where(magnitude < 2, 0.5, np.where(magnitude < 4, 1, 2)).astype(np.float32)
    return np.copysign(np.minimum(np.rint(magnitude / step) * step, np.float32(6)), x)
#@ end


def there_and_back(x, use_stored):
    """float32 [blocks, 16] through NVFP4: values as a reader of the file gets them."""
    tensor_scale = np.abs(x).max() / np.float32(6 * 448)
    ideal = np.abs(x).max(axis=1, keepdims=True) / np.float32(6) / tensor_scale
    stored = e4m3(ideal)
    factor = (stored if use_stored else ideal) * tensor_scale
    codes = e2m1(x / np.where(factor == 0, np.float32(1), factor))
    return np.where(stored == 0, 0, codes) * stored * tensor_scale


def measure(rows, columns, use_stored):
    x = np.random.default_rng(1).standard_normal((rows * columns // 16, 16)).astype(np.float32)
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        y = there_and_back(x, use_stored)
        samples.append((time.perf_counter() - begun) * 1e3)
    sqnr_db = float(10 * np.log10(np.sum(x.astype(np.float64) ** 2) / np.sum((x - y.astype(np.float64)) ** 2)))
    # No number is off by more than a step of 2, and what the rounding of the scale adds at the end of the range.
    largest = np.abs(x).max(axis=1, keepdims=True)
    ok = bool(np.all(np.abs(x - y) <= 0.25 * largest))
    return {"name": "stored scale" if use_stored else "ideal scale", "rung": "NumPy NVFP4",
            "device": f"{platform.machine()}, {os.cpu_count()} cores", "median_ms": statistics.median(samples),
            "samples": SAMPLES, "ok": ok, "bits": 4.5, "sqnr_db": round(sqnr_db, 2)}


def main():
    try:
        rows, columns = [int(argument) for argument in sys.argv[1:]] or (256, 4096)
    except ValueError:
        fail("expected two whole numbers, rows and columns, such as 256 4096")
    if rows < 1 or columns < 16 or columns % 16:
        fail("expected at least one row, and columns in a multiple of 16")
    results = []
    for use_stored in (True, False):
        results.append(measure(rows, columns, use_stored))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
