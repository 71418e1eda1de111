# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""FP8 in NumPy: the error by value and by row.

Rounds FP16 numbers to E4M3 and E5M2 with a scale for each row, and prints what that costs. The error by value goes to
standard error as a small table; one line of JSON for each format goes to Lockstep, with the worst and the best row:

    {"name": "E4M3", "rung": "NumPy FP8", "device": "...", "median_ms": 4.2, "samples": 5, "ok": true, ...}

Without numpy it says what is missing, and how to get it.

    python 01_fp8_error.py [rows columns]
"""

import importlib.util
import json
import os
import platform
import statistics
import sys
import time

# Exponent of the smallest normal number, fraction bits, largest number.
FORMATS = {"E4M3": (-6, 3, 448.0), "E5M2": (-14, 2, 57344.0)}
SAMPLES = 5


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy FP8", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

try:
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"numpy is installed in {sys.executable} but cannot be loaded: {error}")


#@ round
def to_fp8(v, least_exponent, fraction_bits, largest):
    """The nearest number of the format, ties to even, saturated. NaN stays NaN."""
    magnitude = np.minimum(np.abs(v), largest)
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, least_exponent)  # 2^exponent <= magnitude, or subnormal
    step = np.ldexp(1.0, exponent - fraction_bits)
    return np.copysign(np.rint(magnitude / step) * step, v)
#@ end


#@ sqnr
def sqnr_db(x, y, axis=None):
    """How much larger x is than its error, in dB."""
    return 10 * np.log10(np.sum(x**2, axis) / np.sum((x - y) ** 2, axis))
#@ end


def by_value(x, y, name):
    """A table of errors for each power of two, on standard error."""
    print(f"{name}: largest error as a share of the value", file=sys.stderr)
    for power in range(-12, 4, 2):
        here = (np.abs(x) >= 2.0**power) & (np.abs(x) < 2.0 ** (power + 2))
        if np.any(here):
            worst = np.max(np.abs(x - y)[here] / np.abs(x)[here])
            print(f"  2^{power:<4d} to 2^{power + 2:<4d} {100 * worst:7.2f} %", file=sys.stderr)


def measure(name, rows, columns):
    rng = np.random.default_rng(1)
    # Rows of different sizes, from 0.01 to 100.
    sizes = 10.0 ** np.linspace(-2, 2, rows)[:, None]
    x = (sizes * rng.standard_normal((rows, columns))).astype(np.float16).astype(np.float64)
    least_exponent, fraction_bits, largest = FORMATS[name]
    scale = np.max(np.abs(x), axis=1, keepdims=True) / largest
    scale[scale == 0] = 1.0
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        y = to_fp8(x / scale, least_exponent, fraction_bits, largest) * scale
        samples.append((time.perf_counter() - begun) * 1e3)
    by_value(x, y, name)
    of_rows = sqnr_db(x, y, axis=1)
    one_scale = to_fp8(x / np.max(scale), least_exponent, fraction_bits, largest) * np.max(scale)
    of_one = sqnr_db(x, one_scale, axis=1)
    # A normal number is off by half a step at most.
    normal = np.abs(x / scale) >= 2.0**least_exponent
    ok = bool(np.all(np.abs(x - y)[normal] <= 2.0 ** -(fraction_bits + 1) * np.abs(x)[normal] * (1 + 1e-12)))
    return {"name": name, "rung": "NumPy FP8", "device": f"{platform.machine()}, {os.cpu_count()} cores",
            "median_ms": statistics.median(samples), "samples": SAMPLES, "ok": ok,
            "sqnr_db": round(float(sqnr_db(x, y)), 1),
            "worst_row_db": round(float(np.min(of_rows)), 1), "best_row_db": round(float(np.max(of_rows)), 1),
            "worst_row_db_one_scale": round(float(np.min(of_one)), 1)}


def main():
    try:
        rows, columns = [int(argument) for argument in sys.argv[1:]] or (64, 4096)
    except ValueError:
        fail("expected two whole numbers, rows and columns, such as 64 4096")
    if rows < 1 or columns < 1:
        fail("expected at least one row and one column")
    results = []
    for name in FORMATS:
        results.append(measure(name, rows, columns))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
