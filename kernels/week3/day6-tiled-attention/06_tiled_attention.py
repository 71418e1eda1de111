# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""Attention a tile of keys at a time in NumPy, against the score matrix: the same output, and the memory of both.

Prints one line of JSON for each length and way:

    {"name": "n = 1024", "rung": "tiles, NumPy", "median_ms": 12.0, "scores_bytes": 262144, "ok": true}

    python 06_tiled_attention.py [n ...]
"""

import importlib.util
import json
import statistics
import sys
import time

SIZES = [256, 1024, 4096]
SAMPLES = 5
D, TILE = 64, 64


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "tiles, NumPy", "ok": False, "error": message}))
    sys.exit(2)


if importlib.util.find_spec("numpy") is None:
    fail(f"numpy not found in {sys.executable}; install with: python -m pip install numpy")

import numpy as np


def matrix(q, k, v):
    scores = q @ k.T * D**-0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True), scores.nbytes


def tiles(q, k, v):
    m = np.full((len(q), 1), -np.inf, dtype=q.dtype)
    l = np.zeros_like(m)
    o = np.zeros_like(q)
    for first in range(0, len(k), TILE):
        tile_k, tile_v = k[first : first + TILE], v[first : first + TILE]
        #@ tile
        scores = q @ tile_k.T * D**-0.5
        most = np.maximum(m, scores.max(axis=1, keepdims=True))
        factor = np.exp(m - most)
        weights = np.exp(scores - most)
        l = l * factor + weights.sum(axis=1, keepdims=True)
        o = o * factor + weights @ tile_v
        m = most
        #@ end
    return o / l, len(q) * TILE * q.itemsize


def measure(n):
    rng = np.random.default_rng()
    q, k, v = (rng.standard_normal((n, D), dtype=np.float32) for _ in range(3))
    exact, _ = matrix(*(x.astype(np.float64) for x in (q, k, v)))
    all_ok = True
    for name, way in (("score matrix, NumPy", matrix), ("tiles, NumPy", tiles)):
        times = []
        for _ in range(SAMPLES):
            start = time.perf_counter()
            out, scores_bytes = way(q, k, v)
            times.append((time.perf_counter() - start) * 1e3)
        ok = bool(np.abs(out - exact).max() < 1e-5)
        all_ok &= ok
        print(json.dumps({
            "name": f"n = {n}", "rung": name, "device": "CPU", "median_ms": statistics.median(times),
            "samples": SAMPLES, "scores_bytes": scores_bytes, "ok": ok,
        }))
    return all_ok


if __name__ == "__main__":
    sizes = [int(text) for text in sys.argv[1:]] or SIZES
    sys.exit(0 if all([measure(n) for n in sizes]) else 1)
