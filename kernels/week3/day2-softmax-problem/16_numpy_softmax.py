# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy"]
# ///
"""The same softmax in NumPy: the first score that breaks it, in three formats.

Rows of four scores, each 1 larger than the one before: softmax gives every row the same weights. Looks for the first row
whose weights are wrong, and prints one line of JSON for each format. `scores` are those of that row.

    {"name": "float16", "rung": "NumPy", "device": "...", "median_ms": null, "samples": 0, "ok": true, "scores": [8, 11]}

    python 16_numpy_softmax.py
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


#@ search
def first_broken(dtype):
    for row in range(1000):
        scores = np.arange(4 * row, 4 * row + 4).astype(dtype)
        e = np.exp(scores)
        weights = e / e.sum(dtype=dtype)
        if not np.allclose(weights, [0.0321, 0.0871, 0.2369, 0.6439], atol=1e-3):
            return scores, weights
#@ end


def main():
    ok = True
    for dtype in (np.float16, np.float32, np.float64):
        with np.errstate(over="ignore", invalid="ignore"):
            found = first_broken(dtype)
        name = np.dtype(dtype).name
        result = {"name": name, "rung": "NumPy", "device": platform.machine(), "median_ms": None, "samples": 0, "ok": found is not None}
        if found is not None:
            scores, weights = found
            result["scores"] = [int(scores[0]), int(scores[-1])]
            result["weights"] = [str(weight) for weight in weights]
        print(json.dumps(result), flush=True)
        ok = ok and result["ok"]
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
