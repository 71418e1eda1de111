# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "numba"]
# ///
"""The gradient of a lookup in Numba, with atomic additions: one block a token, one thread a column.

Without a GPU it runs in Numba's simulator: results are checked, times mean nothing and are null. Prints one line of
JSON for each size, which Lockstep shows:

    {"name": "tokens = 12, d = 32", "rung": "Numba", "device": "...", "median_ms": 0.02, "samples": 30, "ok": true}

    python 26_numba_scatter.py
"""

import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys

SAMPLES = 30


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "Numba", "ok": False, "error": message}))
    sys.exit(2)


for name in ("numpy", "numba"):
    if importlib.util.find_spec(name) is None:
        fail(f"{name} not found in {sys.executable}; install with: python -m pip install numpy numba")


# Some Numba look up numpy.row_stack while they are imported, an old name of vstack that NumPy 2.5 took away.
PREPARE = "import numpy; numpy.row_stack = getattr(numpy, 'row_stack', numpy.vstack)"


def has_gpu():
    """Asked in a process of its own: whether it is simulated must be known before numba.cuda is imported."""
    import subprocess

    question = f"{PREPARE}; from numba import cuda; import sys; sys.exit(0 if cuda.is_available() else 1)"
    return subprocess.run([sys.executable, "-c", question], capture_output=True, timeout=120).returncode == 0


SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1" or not has_gpu()
if SIMULATED:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

try:
    import numpy as np

    np.row_stack = getattr(np, "row_stack", np.vstack)
    from numba import cuda
except Exception as error:  # A NumPy that is too new shows as any error at all.
    wanted = [need for need in importlib.metadata.requires("numba") or [] if need.startswith("numpy")]
    fail(
        f"numba {importlib.metadata.version('numba')} is installed in {sys.executable} but cannot be loaded with "
        f"numpy {importlib.metadata.version('numpy')}: {type(error).__name__}: {error}. "
        f"It wants {' or '.join(wanted) or 'another numpy'}; install a pair that fits with: "
        "python -m pip install --upgrade numba"
    )


CASES = [(100, 12, 32)] if SIMULATED else [(100, 12, 32), (32000, 8192, 256)]


#@ kernel
@cuda.jit
def scatter(g, ids, gradient):
    token = cuda.blockIdx.x
    column = cuda.threadIdx.x
    cuda.atomic.add(gradient, (ids[token], column), g[token, column])
#@ end


def measure(vocabulary, tokens, d):
    rng = np.random.default_rng()
    ids_host = rng.integers(0, vocabulary, tokens).astype(np.int32)
    ids_host[: tokens // 4] = ids_host[0]  # a popular word
    g_host = rng.standard_normal((tokens, d)).astype(np.float32)
    g, ids = cuda.to_device(g_host), cuda.to_device(ids_host)
    gradient = cuda.to_device(np.zeros((vocabulary, d), np.float32))
    scatter[tokens, d](g, ids, gradient)
    want = np.zeros((vocabulary, d))
    np.add.at(want, ids_host, g_host.astype(np.float64))
    ok = np.allclose(gradient.copy_to_host(), want, atol=1e-2)
    result = {"name": f"tokens = {tokens}, d = {d}", "rung": "Numba", "ok": bool(ok)}
    if SIMULATED:
        result.update(device="Numba's simulator", median_ms=None, samples=0)
    else:
        samples = []
        for _ in range(SAMPLES):
            start, end = cuda.event(), cuda.event()
            start.record()
            scatter[tokens, d](g, ids, gradient)
            end.record()
            end.synchronize()
            samples.append(cuda.event_elapsed_time(start, end))
        device = cuda.get_current_device().name
        device = device.decode() if isinstance(device, bytes) else device
        result.update(device=device, median_ms=statistics.median(samples), samples=SAMPLES)
    return result


def main():
    results = []
    for case in CASES:
        results.append(measure(*case))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
