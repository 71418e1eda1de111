# /// script
# requires-python = ">=3.9"
# dependencies = ["torch", "triton"]
# ///
"""A tiled matrix product in Triton.

The tiles of this day's CUDA kernels, written the way Triton wants it: the text says what a block does with whole tiles;
registers, shared memory, banks and barriers are the compiler's business. Prints one line of JSON for each size, which
Lockstep puts into the timing plot:

    {"name": "k = 4096, m = 4096, n = 4096", "rung": "triton", "device": "...", "median_ms": 4.1, "gflops": 33500.0, "samples": 50, "ok": true}

Products are made in full fp32 (input_precision "ieee"), as in the CUDA kernels; tensor cores with their shorter numbers
are next week's topic. With no GPU, or with TRITON_INTERPRET=1, it runs in Triton's interpreter: results are checked,
times mean nothing and are null. Without triton or torch it says what is missing, and how to get it.

    python 06_tiled_matmul_v1.py [size ...]
"""

import importlib.util
import json
import os
import statistics
import sys

# Rows and columns of C that one program instance makes, and the step along k.
TILE_M, TILE_N, DEPTH = 64, 64, 16
# Sizes (m = n = k) with a GPU, and without one: the interpreter needs milliseconds for each step.
GPU_SIZES = [1024, 4096]
INTERPRETER_SIZES = [1, 33, 96]
SAMPLES = 50
# Beside the length of row times the length of column: as in the CUDA exercise.
TOLERANCE = 2e-6


def fail(message):
    """Says what is wrong in a form that both a person and Lockstep can read."""
    print(json.dumps({"rung": "triton", "ok": False, "error": message}))
    sys.exit(2)


missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
if missing:
    hint = "python -m pip install " + " ".join(missing)
    fail(f"{' and '.join(missing)} not found in {sys.executable}; install with: {hint}")

try:
    import torch
except (ImportError, OSError) as error:
    fail(f"torch is installed in {sys.executable} but cannot be loaded: {error}")

# Must be decided before triton is imported: the decorator below looks at it.
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"
INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") not in ("", "0")
DEVICE = "cpu" if not torch.cuda.is_available() else "cuda"

try:
    import triton
    import triton.language as tl
except (ImportError, OSError) as error:
    fail(f"triton is installed in {sys.executable} but cannot be loaded: {error}")


#@ kernel
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, DEPTH: tl.constexpr):
    # One instance of this function owns a tile of C: these are all of its rows and all of its columns.
    rows = tl.program_id(axis=1) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(axis=0) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        steps = start + tl.arange(0, DEPTH)
        in_a = (rows[:, None] < m) & (steps[None, :] < k)
        in_b = (steps[:, None] < k) & (columns[None, :] < n)
        # What lies outside is zero, as in the CUDA kernels.
        tile_a = tl.load(a_ptr + rows[:, None] * k + steps[None, :], mask=in_a, other=0.0)
        tile_b = tl.load(b_ptr + steps[:, None] * n + columns[None, :], mask=in_b, other=0.0)
        sums += tl.dot(tile_a, tile_b, input_precision="ieee")
    in_c = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], sums, mask=in_c)
#@ end


def multiply(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(n, TILE_N), triton.cdiv(m, TILE_M))
    matmul[grid](a, b, c, m, n, k, TILE_M=TILE_M, TILE_N=TILE_N, DEPTH=DEPTH)


def median_ms(launch):
    """Median time of one launch, with the L2 cache overwritten before each sample."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device=DEVICE)
    for _ in range(5):
        launch()
    samples = []
    for _ in range(SAMPLES):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        launch()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end))
    return statistics.median(samples)


def measure(size):
    a = torch.randn(size, size, device=DEVICE)
    b = torch.randn(size, size, device=DEVICE)
    c = torch.full((size, size), float("nan"), device=DEVICE)
    multiply(a, b, c)
    expected = a.double() @ b.double()
    scale = a.double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
    ok = bool(((c.double() - expected).abs() <= TOLERANCE * scale).all())
    result = {"name": f"k = {size}, m = {size}, n = {size}", "rung": "triton", "ok": ok}
    if INTERPRETED:
        result.update(device="triton interpreter", median_ms=None, gflops=None, samples=0)
    else:
        ms = median_ms(lambda: multiply(a, b, c))
        gflops = 2 * size**3 / ms / 1e6
        result.update(device=torch.cuda.get_device_name(), median_ms=ms, gflops=gflops, samples=SAMPLES)
    return result


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1024")
    if any(size < 1 for size in sizes):
        fail("expected sizes of at least 1")
    results = []
    for size in sizes or (INTERPRETER_SIZES if INTERPRETED else GPU_SIZES):
        results.append(measure(size))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
