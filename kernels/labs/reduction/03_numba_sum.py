# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "numba"]
# ///
"""The sum in Numba: a grid-stride loop, a tree in shared memory, one atomic addition a block.

Numba keeps CUDA's view, one thread at a time. Without a GPU it runs in Numba's simulator, which starts a Python thread
for each thread of a block: results are checked, times mean nothing and are null. Prints one line of JSON for each size,
which Lockstep puts into the timing plot.

    python 03_numba_sum.py [n ...]
"""

import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys

BLOCK = 256
MAX_BLOCKS = 264
# Sizes with a GPU, and in the simulator, which needs seconds for a few thousand threads.
GPU_SIZES = [1 << 16, 1 << 24, 1 << 28]
SIMULATED_SIZES = [1, 1000]
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
def sum_kernel(x, y):
    part = cuda.shared.array(BLOCK, "float32")
    t = cuda.threadIdx.x
    mine = np.float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine += x[i]
    part[t] = mine
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(y, 0, part[0])
#@ end


def measure(n):
    values = np.random.default_rng().standard_normal(n, dtype=np.float32)
    x = cuda.to_device(values)
    blocks = 2 if SIMULATED else max(1, min((n + 4 * BLOCK - 1) // (4 * BLOCK), MAX_BLOCKS))
    y = cuda.to_device(np.zeros(1, dtype=np.float32))
    sum_kernel[blocks, BLOCK](x, y)
    got = float(y.copy_to_host()[0])
    want, scale = values.sum(dtype=np.float64), np.abs(values).sum(dtype=np.float64)
    result = {"name": f"n = {n}", "rung": "Numba", "ok": bool(abs(got - want) <= 1e-5 * scale)}
    if SIMULATED:
        result.update(device="Numba's simulator", median_ms=None, gbps=None, samples=0)
        return result
    samples = []
    for _ in range(SAMPLES):
        start, end = cuda.event(), cuda.event()
        start.record()
        sum_kernel[blocks, BLOCK](x, y)
        end.record()
        end.synchronize()
        samples.append(cuda.event_elapsed_time(start, end))
    ms = statistics.median(samples)
    device = cuda.get_current_device().name
    result.update(device=device.decode() if isinstance(device, bytes) else device, median_ms=ms, gbps=4 * n / ms / 1e6,
                  samples=SAMPLES)
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
