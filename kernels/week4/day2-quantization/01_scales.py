# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""Who shares a scale: the SQNR of a scale a tensor, a row and a column, in NumPy.

Quantizes a matrix with a few loud columns to 8 and to 4 bits, without and with clipping, and prints what is left of the
ordinary columns. One line of JSON for each case goes to Lockstep:

    {"name": "8 bits, a scale a column", "rung": "NumPy scales", "device": "...", "median_ms": 4.2, "sqnr_db": 41.3, ...}

Without numpy it says what is missing, and how to get it.

    python 01_scales.py [rows columns]
"""

import importlib.util
import json
import os
import platform
import statistics
import sys
import time

# What shares a scale, and the axis along which the largest magnitude is looked for.
SHARES = {"the tensor": None, "a row": 1, "a column": 0}
LOUD_COLUMNS = 2
FACTOR = 60.0
SAMPLES = 5


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy scales", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

try:
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"numpy is installed in {sys.executable} but cannot be loaded: {error}")


#@ quantize
def there_and_back(x, bits, axis, share_of_amax=1.0):
    """x through whole numbers: one scale for what `axis` runs along; more than share_of_amax * amax is clipped."""
    most = 2 ** (bits - 1) - 1
    scale = share_of_amax * np.max(np.abs(x), axis=axis, keepdims=True) / most
    safe = np.where(scale == 0, 1, scale)  # all zeros stay zeros
    return np.clip(np.rint(x / safe), -most, most) * scale, scale
#@ end


def sqnr_db(x, y):
    """How much larger x is than its error, in dB; 999 where there is no error at all."""
    noise = np.sum((x - y) ** 2)
    return 999.0 if noise == 0 else float(10 * np.log10(np.sum(x**2) / noise))


def measure(rows, columns, bits, share):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, columns))
    loud = min(LOUD_COLUMNS, columns - 1)
    x[:, :loud] *= FACTOR
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        y, scale = there_and_back(x, bits, SHARES[share])
        samples.append((time.perf_counter() - begun) * 1e3)
    clipped = {s: there_and_back(x, bits, SHARES[share], s)[0] for s in (0.5, 0.6, 0.7, 0.8, 0.9)}
    best = max(clipped, key=lambda s: sqnr_db(x[:, loud:], clipped[s][:, loud:]))
    # Off by half a scale at most, where nothing is clipped.
    ok = bool(np.all(np.abs(x - y) <= 0.5 * scale * (1 + 1e-9)))
    return {"name": f"{bits} bits, a scale for {share}", "rung": "NumPy scales",
            "device": f"{platform.machine()}, {os.cpu_count()} cores", "median_ms": statistics.median(samples),
            "samples": SAMPLES, "ok": ok, "sqnr_db": round(sqnr_db(x, y), 1),
            "ordinary_columns_db": round(sqnr_db(x[:, loud:], y[:, loud:]), 1),
            "clipped_at": best, "ordinary_columns_clipped_db": round(sqnr_db(x[:, loud:], clipped[best][:, loud:]), 1)}


def main():
    try:
        rows, columns = [int(argument) for argument in sys.argv[1:]] or (256, 1024)
    except ValueError:
        fail("expected two whole numbers, rows and columns, such as 256 1024")
    if rows < 1 or columns < 1:
        fail("expected at least one row and one column")
    results = []
    for bits in (8, 4):
        for share in SHARES:
            results.append(measure(rows, columns, bits, share))
            print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
