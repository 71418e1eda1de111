# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""An embedding lookup in NumPy, and its gradient: one line each, and one of them has a trap.

Prints one line of JSON for each number of tokens:

    {"name": "tokens = 4096", "rung": "NumPy", "device": "...", "median_ms": 9.8, "samples": 10, "ok": true, "gradient_ms": 90.1}

    python 22_numpy_embedding.py [tokens ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

TOKENS = [1024, 4096, 16384]
VOCABULARY, D = 32000, 256
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


#@ lookup
def lookup(table, ids):
    return table[ids]


def gradient(g, ids):
    out = np.zeros((VOCABULARY, g.shape[1]), g.dtype)
    np.add.at(out, ids, g)  # not `out[ids] += g`: that adds once to a row, however often its id occurs
    return out
#@ end


def timed(work):
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        work()
        samples.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(samples)


def measure(tokens):
    rng = np.random.default_rng()
    table = rng.standard_normal((VOCABULARY, D), dtype=np.float32)
    ids = rng.integers(0, VOCABULARY, tokens)
    ids[: tokens // 8] = ids[0]  # a popular word
    g = rng.standard_normal((tokens, D), dtype=np.float32)
    y = lookup(table, ids)
    ok = all(bool(np.array_equal(y[t], table[ids[t]])) for t in range(0, tokens, max(1, tokens // 64)))
    want = g[ids == ids[0]].astype(np.float64).sum(axis=0)
    ok = ok and bool(np.allclose(gradient(g, ids)[ids[0]], want, atol=1e-2))
    return {"name": f"tokens = {tokens}", "rung": "NumPy", "device": platform.machine(),
            "median_ms": timed(lambda: lookup(table, ids)), "samples": SAMPLES, "ok": ok,
            "gradient_ms": round(timed(lambda: gradient(g, ids)), 2)}


def main():
    try:
        counts = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected numbers of tokens, such as 4096")
    if any(n < 1 for n in counts):
        fail("expected numbers of tokens of at least 1")
    results = []
    for tokens in counts or TOKENS:
        results.append(measure(tokens))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
