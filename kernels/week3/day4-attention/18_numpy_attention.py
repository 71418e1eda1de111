# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""Attention in NumPy: five lines, and what the matrix in the middle costs.

One head, causal, float32. Prints one line of JSON for each length, with the bytes of the score matrix:

    {"name": "tokens = 1024", "rung": "NumPy", "device": "...", "median_ms": 9.8, "samples": 10, "ok": true, "scores_mb": 4.2}

    python 18_numpy_attention.py [tokens ...]
"""

import importlib.util
import json
import platform
import statistics
import sys
import time

LENGTHS = [512, 1024, 2048]
D = 64
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


#@ attention
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.dtype.type(q.shape[1]))
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ v
#@ end


def measure(tokens):
    rng = np.random.default_rng()
    q, k, v = (rng.standard_normal((tokens, D), dtype=np.float32) for _ in range(3))
    out = attention(q, k, v)
    # Some rows one by one, in float64.
    ok = True
    for row in range(0, tokens, max(1, tokens // 16)):
        scores = k[: row + 1].astype(np.float64) @ q[row].astype(np.float64) / np.sqrt(D)
        weights = np.exp(scores - scores.max())
        want = weights @ v[: row + 1].astype(np.float64) / weights.sum()
        ok = ok and bool(np.allclose(out[row], want, atol=1e-5))
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        attention(q, k, v)
        samples.append((time.perf_counter() - begun) * 1e3)
    return {"name": f"tokens = {tokens}", "rung": "NumPy", "device": platform.machine(), "median_ms": statistics.median(samples),
            "samples": SAMPLES, "ok": ok, "scores_mb": round(4e-6 * tokens * tokens, 2)}


def main():
    try:
        lengths = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected numbers of tokens, such as 1024")
    if any(n < 1 for n in lengths):
        fail("expected numbers of tokens of at least 1")
    results = []
    for tokens in lengths or LENGTHS:
        results.append(measure(tokens))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
