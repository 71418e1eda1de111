# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""Layer normalization in NumPy, with a stopwatch at every step: a profile by hand.

Prints one line of JSON for each number of rows; `steps_ms` is the median of each step:

    {"name": "m = 4096", "rung": "NumPy", "device": "...", "median_ms": 20.1, "samples": 10, "ok": true,
     "steps_ms": {"means": 2.1, "squares": 8.0, "finish": 0.1, "normalize": 9.9}}

    python 25_numpy_layer_norm.py [rows ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

ROWS = [256, 1024, 4096]
N = 1024
EPSILON = 0.01
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


#@ steps
def layer_norm(x, weight, bias, times):
    marks = [time.perf_counter()]

    def done(step):
        marks.append(time.perf_counter())
        times.setdefault(step, []).append((marks[-1] - marks[-2]) * 1e3)

    mean = x.mean(axis=1, keepdims=True)
    done("means")
    squares = ((x - mean) ** 2).sum(axis=1, keepdims=True)
    done("squares")
    variance = squares / np.float32(x.shape[1]) + np.float32(EPSILON)
    done("finish")
    y = (x - mean) / np.sqrt(variance) * weight + bias
    done("normalize")
    return y
#@ end


def measure(m):
    rng = np.random.default_rng()
    x = (0.5 + 2 * rng.standard_normal((m, N))).astype(np.float32)
    weight, bias = (rng.standard_normal(N).astype(np.float32) for _ in range(2))
    y = layer_norm(x, weight, bias, {})
    # Some rows one by one, in float64.
    ok = True
    for row in range(0, m, max(1, m // 16)):
        exact = x[row].astype(np.float64)
        want = (exact - exact.mean()) / np.sqrt(exact.var() + EPSILON) * weight + bias
        ok = ok and bool(np.allclose(y[row], want, atol=2e-5))
    times, samples = {}, []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        layer_norm(x, weight, bias, times)
        samples.append((time.perf_counter() - begun) * 1e3)
    return {"name": f"m = {m}", "rung": "NumPy", "device": platform.machine(), "median_ms": statistics.median(samples),
            "samples": SAMPLES, "ok": ok,
            "steps_ms": {step: round(statistics.median(values), 3) for step, values in times.items()}}


def main():
    try:
        rows = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected numbers of rows, such as 1024")
    if any(m < 1 for m in rows):
        fail("expected numbers of rows of at least 1")
    results = []
    for m in rows or ROWS:
        results.append(measure(m))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
