# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""FlashAttention in NumPy: tile by tile beside the whole formula.

Compares outputs and log-sum-exps of one head, full and causal, and prints one line of JSON for each:

    {"name": "full", "rung": "NumPy", "device": "...", "median_ms": null, "samples": 0, "ok": true, "error": 1e-16, "scores_mb": 8.4, "tile_mb": 0.5}

    python 21_numpy_flash.py
"""

import importlib.util
import json
import platform
import sys


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

QUERIES, KEYS, D, TILE = 1000, 1050, 64, 64


def mask(first_key, count, causal):
    """True where a query does not see a key. The last query sees the last key."""
    query, key = np.arange(QUERIES)[:, None], first_key + np.arange(count)[None, :]
    return causal & (key > query + KEYS - QUERIES)


def whole(q, k, v, causal):
    scores = q @ k.T / np.sqrt(D)
    scores[mask(0, KEYS, causal)] = -np.inf
    most = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - most)
    total = weights.sum(axis=1, keepdims=True)
    return weights @ v / total, (most + np.log(total))[:, 0], scores.nbytes


#@ tiles
def tiles(q, k, v, causal):
    most, largest = np.full((QUERIES, 1), -np.inf), 0
    total, out = np.zeros((QUERIES, 1)), np.zeros((QUERIES, D))
    for first in range(0, KEYS, TILE):
        scores = q @ k[first : first + TILE].T / np.sqrt(D)
        scores[mask(first, scores.shape[1], causal)] = -np.inf
        now = np.maximum(most, scores.max(axis=1, keepdims=True))
        factor, weights = np.exp(most - now), np.exp(scores - now)
        total = total * factor + weights.sum(axis=1, keepdims=True)
        out = out * factor + weights @ v[first : first + TILE]
        most, largest = now, max(largest, scores.nbytes)
    return out / total, (most + np.log(total))[:, 0], largest
#@ end


if __name__ == "__main__":
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((rows, D)) for rows in (QUERIES, KEYS, KEYS))
    sound = True
    for causal in (False, True):
        out, lse, bytes_whole = whole(q, k, v, causal)
        tiled, tiled_lse, bytes_tile = tiles(q, k, v, causal)
        error = max(float(abs(out - tiled).max()), float(abs(lse - tiled_lse).max()))
        sound &= error < 1e-12
        print(json.dumps({
            "name": "causal" if causal else "full", "rung": "NumPy", "device": platform.processor() or platform.machine(),
            "median_ms": None, "samples": 0, "ok": error < 1e-12, "error": error,
            "scores_mb": bytes_whole / 1e6, "tile_mb": bytes_tile / 1e6,
        }))
    sys.exit(0 if sound else 1)
