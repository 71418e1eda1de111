# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "numba"]
# ///
"""The same question in Numba: Python that is compiled for the GPU, thread by thread.

Numba keeps CUDA's view, one thread at a time, so `cuda.threadIdx.x` is what `threadIdx.x` is in C++. Without a GPU it
runs in Numba's simulator, which starts a Python thread for each thread of a block: results are checked, times mean
nothing and are null. Prints one line of JSON for each size, which Lockstep shows:

    {"name": "blocks = 3, threads = 100", "rung": "Numba", "device": "...", "median_ms": 0.02, "samples": 30, "ok": true}

    python 03_numba_who_ran.py
"""

import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys

CASES = [(1, 1), (3, 100), (4, 96)]
SAMPLES = 30
WARP = 32


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


#@ kernel
@cuda.jit
def who_ran(warp, lane):
    place = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    warp[place] = cuda.threadIdx.x // 32
    lane[place] = cuda.threadIdx.x % 32
#@ end


def measure(blocks, threads):
    warp = cuda.to_device(np.full(blocks * threads, -1, dtype=np.int32))
    lane = cuda.to_device(np.full(blocks * threads, -1, dtype=np.int32))
    who_ran[blocks, threads](warp, lane)
    thread = np.tile(np.arange(threads), blocks)
    ok = np.array_equal(warp.copy_to_host(), thread // WARP) and np.array_equal(lane.copy_to_host(), thread % WARP)
    result = {"name": f"blocks = {blocks}, threads = {threads}", "rung": "Numba", "ok": bool(ok)}
    if SIMULATED:
        result.update(device="Numba's simulator", median_ms=None, samples=0)
    else:
        samples = []
        for _ in range(SAMPLES):
            start, end = cuda.event(), cuda.event()
            start.record()
            who_ran[blocks, threads](warp, lane)
            end.record()
            end.synchronize()
            samples.append(cuda.event_elapsed_time(start, end))
        device = cuda.get_current_device().name
        device = device.decode() if isinstance(device, bytes) else device
        result.update(device=device, median_ms=statistics.median(samples), samples=SAMPLES)
    return result


def main():
    results = []
    for blocks, threads in CASES:
        results.append(measure(blocks, threads))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
