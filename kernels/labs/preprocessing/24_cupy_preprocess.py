# /// script
# requires-python = ">=3.9"
# dependencies = ["cupy-cuda13x", "numpy"]
# ///
"""Image to tensor in CuPy: plain lines, fused arithmetic, and plain lines with the transfer of the bytes.

Prints one line of JSON for each number of pixels and each way:

    {"name": "n = 4194304, plain", "rung": "CuPy", "device": "...", "median_ms": 0.2, "samples": 20, "ok": true, "gbytes_per_s": 300.0}

    python 24_cupy_preprocess.py [pixels ...]
"""

import importlib.util
import json
import statistics
import sys

PIXELS = [1 << 20, 1 << 22]
SAMPLES = 20


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "CuPy", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("cupy") is None:
    fail(f"cupy not found in {sys.executable}; install with: python -m pip install cupy-cuda13x")

try:
    import cupy as cp
    import numpy as np

    cp.cuda.runtime.getDeviceCount()
except Exception as error:  # CuPy raises its own kinds when there is no driver
    fail(f"cupy cannot use a GPU here: {error}")


#@ plain
def plain(pixels, mean, scale):
    floats = pixels.astype(cp.float32)
    normalized = (floats - mean) * scale
    return cp.ascontiguousarray(normalized.T)
#@ end


#@ fused
@cp.fuse()
def arithmetic(pixels, mean, scale):
    return (pixels.astype(cp.float32) - mean) * scale


def fused(pixels, mean, scale):
    return cp.ascontiguousarray(arithmetic(pixels, mean, scale).T)
#@ end


def with_transfer(pixels, mean, scale):
    return plain(cp.asarray(pixels), mean, scale)


def measure(n):
    rng = np.random.default_rng()
    host = rng.integers(-128, 128, size=(n, 3), dtype=np.int8)
    mean_host = rng.uniform(-40, 40, 3).astype(np.float32)
    scale_host = rng.uniform(0.01, 0.03, 3).astype(np.float32)
    pixels, mean, scale = cp.asarray(host), cp.asarray(mean_host), cp.asarray(scale_host)
    chosen = slice(0, n, max(1, n // 64))
    want = ((host[chosen].astype(np.float64) - mean_host) * scale_host).T
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    for way, work, data in (("plain", plain, pixels), ("fused", fused, pixels), ("with transfer", with_transfer, host)):
        y = work(data, mean, scale)  # also compiles
        ok = bool(np.allclose(cp.asnumpy(y[:, chosen]), want, atol=2e-6))
        samples = []
        for _ in range(SAMPLES):
            begun, ended = cp.cuda.Event(), cp.cuda.Event()
            begun.record()
            work(data, mean, scale)
            ended.record()
            ended.synchronize()
            samples.append(cp.cuda.get_elapsed_time(begun, ended))
        median = statistics.median(samples)
        yield {"name": f"n = {n}, {way}", "rung": "CuPy", "device": name, "median_ms": median,
               "samples": SAMPLES, "ok": ok, "gbytes_per_s": round(15 * n / median / 1e6, 2)}


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected numbers of pixels, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected numbers of pixels of at least 1")
    right = True
    for n in sizes or PIXELS:
        for result in measure(n):
            print(json.dumps(result), flush=True)
            right = right and result["ok"]
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
