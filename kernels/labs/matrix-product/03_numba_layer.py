# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "numba"]
# ///
"""The layer in Numba: tiles of 16 x 16 in shared memory, and the epilogue before the store.

Numba keeps CUDA's view, one thread at a time. Without a GPU it runs in Numba's simulator, which starts a Python thread
for each thread of a block: results are checked, times mean nothing and are null. Prints one line of JSON for each size,
which Lockstep puts into the timing plot.

    python 03_numba_layer.py [n ...]
"""

import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys

TILE = 16
# Sizes with a GPU, and in the simulator, which needs seconds for a single block.
GPU_SIZES = [1024, 4096]
SIMULATED_SIZES = [5, 20]
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


#@ kernel
@cuda.jit
def layer(x, w, bias, y):
    tile_x = cuda.shared.array((TILE, TILE), "float32")
    tile_w = cuda.shared.array((TILE, TILE), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    m, k = x.shape
    n = w.shape[1]
    total = np.float32(0)
    for start in range(0, k, TILE):
        tile_x[ty, tx] = x[row, start + tx] if row < m and start + tx < k else np.float32(0)
        tile_w[ty, tx] = w[start + ty, column] if start + ty < k and column < n else np.float32(0)
        cuda.syncthreads()
        for d in range(TILE):
            total += tile_x[ty, d] * tile_w[d, tx]
        cuda.syncthreads()
    if row < m and column < n:
        v = total + bias[column]
        y[row, column] = np.float32(0.25) * v if v < 0 else v
#@ end


def right(x, w, bias, y):
    """Some rows against float64: a sum of n products rounds n times."""
    rows = slice(0, x.shape[0], max(1, x.shape[0] // 16))
    sums = x[rows].astype(np.float64) @ w.astype(np.float64) + bias
    scale = np.abs(x[rows]).astype(np.float64) @ np.abs(w).astype(np.float64) + np.abs(bias)
    want = np.where(sums < 0, 0.25 * sums, sums)
    return bool(np.all(np.abs(y[rows] - want) <= 6e-8 * x.shape[1] * scale))


def measure(n):
    rng = np.random.default_rng()
    host = [rng.standard_normal(shape, dtype=np.float32) for shape in ((n, n), (n, n), (n,))]
    x, w, bias = (cuda.to_device(array) for array in host)
    y = cuda.to_device(np.zeros((n, n), dtype=np.float32))
    grid = ((n + TILE - 1) // TILE, (n + TILE - 1) // TILE)
    layer[grid, (TILE, TILE)](x, w, bias, y)
    result = {"name": f"n = {n}", "rung": "Numba", "ok": right(*host, y.copy_to_host())}
    if SIMULATED:
        result.update(device="Numba's simulator", median_ms=None, gflops=None, samples=0)
        return result
    samples = []
    for _ in range(SAMPLES):
        start, end = cuda.event(), cuda.event()
        start.record()
        layer[grid, (TILE, TILE)](x, w, bias, y)
        end.record()
        end.synchronize()
        samples.append(cuda.event_elapsed_time(start, end))
    ms = statistics.median(samples)
    name = cuda.get_current_device().name
    result.update(device=name.decode() if isinstance(name, bytes) else name, median_ms=ms,
                  gflops=2 * n**3 / ms / 1e6, samples=SAMPLES)
    return result


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = []
    for n in sizes or (SIMULATED_SIZES if SIMULATED else GPU_SIZES):
        results.append(measure(n))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
