# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""INT4 in groups, in NumPy: packed, unpacked, and multiplied by a vector, beside the unquantized product.

Prints one line of JSON for each group size, which Lockstep puts into the timing plot:

    {"name": "groups of 128", "rung": "NumPy INT4", "device": "...", "median_ms": 9.1, "bits": 4.125, "error": 0.11, ...}

Without numpy it says what is missing, and how to get it.

    python 01_int4_groups.py [rows columns]
"""

import importlib.util
import json
import os
import platform
import statistics
import sys
import time

GROUPS = [32, 64, 128]
SAMPLES = 5


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "NumPy INT4", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

try:
    import numpy as np
except (ImportError, OSError) as error:
    fail(f"numpy is installed in {sys.executable} but cannot be loaded: {error}")


#@ pack
def pack(weights, group):
    """Codes of float32 [rows, columns], two to a byte, and float32 scales [rows, columns / group]."""
    rows, columns = weights.shape
    grouped = weights.reshape(rows, columns // group, group)
    scales = np.abs(grouped).max(axis=2, keepdims=True) / np.float32(7)
    codes = np.rint(grouped / np.where(scales == 0, np.float32(1), scales)).astype(np.int8).reshape(rows, columns)
    return (codes[:, 0::2] & 15 | (codes[:, 1::2] & 15) << 4).astype(np.uint8), scales[:, :, 0]


def unpack(packed):
    """Codes -8 to 7, int8 [rows, columns]: shifted up to the sign bit, and back down with it."""
    codes = np.empty((packed.shape[0], 2 * packed.shape[1]), np.int8)
    codes[:, 0::2] = (packed << 4).astype(np.int8) >> 4
    codes[:, 1::2] = packed.astype(np.int8) >> 4
    return codes
#@ end


def multiply(packed, scales, x, group):
    """The product of the packed matrix and x: scales are applied once for each group."""
    rows = packed.shape[0]
    parts = unpack(packed).reshape(rows, -1, group).astype(np.float32) * x.reshape(1, -1, group)
    return (parts.sum(axis=2) * scales).sum(axis=1)


def measure(rows, columns, group):
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((rows, columns)).astype(np.float32)
    x = rng.standard_normal(columns).astype(np.float32)
    packed, scales = pack(weights, group)
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        y = multiply(packed, scales, x, group)
        samples.append((time.perf_counter() - begun) * 1e3)
    decoded = unpack(packed).astype(np.float64) * np.repeat(scales, group, axis=1)
    exact = decoded @ x
    size = np.linalg.norm(decoded, axis=1) * np.linalg.norm(x)
    wanted = weights.astype(np.float64) @ x
    return {"name": f"groups of {group}", "rung": "NumPy INT4", "device": f"{platform.machine()}, {os.cpu_count()} cores",
            "median_ms": statistics.median(samples), "samples": SAMPLES, "bits": 4 + 16 / group,
            "ok": bool(np.all(np.abs(y - exact) <= 1e-5 * size)),
            "error": round(float(np.linalg.norm(y - wanted) / np.linalg.norm(wanted)), 3)}


def main():
    try:
        rows, columns = [int(argument) for argument in sys.argv[1:]] or (512, 2048)
    except ValueError:
        fail("expected two whole numbers, rows and columns, such as 512 2048")
    if rows < 1 or columns < 128 or columns % 128:
        fail("expected at least one row, and columns in a multiple of 128")
    results = []
    for group in GROUPS:
        results.append(measure(rows, columns, group))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
