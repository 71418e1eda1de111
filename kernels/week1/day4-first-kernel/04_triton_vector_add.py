# /// script
# requires-python = ">=3.9"
# dependencies = ["torch", "triton"]
# ///
"""Vector addition in Triton.

The same sum as the CUDA kernel of this day, written the way Triton wants it: the text says what a block of elements
does, not what one thread does. Prints one line of JSON for each size, which Lockstep puts into the timing plot:

    {"name": "n = 1048576", "rung": "triton", "device": "...", "median_ms": 0.01, "gbps": 1258.3, "samples": 50, "ok": true}

With no GPU, or with TRITON_INTERPRET=1, it runs in Triton's interpreter: results are checked, times mean nothing and
are null. Without triton or torch it says what is missing, and how to get it.

    python 04_triton_vector_add.py [n ...]
"""

import importlib.util
import json
import os
import statistics
import sys

# Elements that one program instance adds.
BLOCK = 1024
# Sizes with a GPU, and without one: the interpreter needs a millisecond for each block.
GPU_SIZES = [1 << 20, 1 << 24, 1 << 28]
INTERPRETER_SIZES = [1, 1000, 4097]
SAMPLES = 50


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
def vector_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    # One instance of this function owns BLOCK elements; `i` is all of their indices at once.
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    a = tl.load(a_ptr + i, mask=inside)
    b = tl.load(b_ptr + i, mask=inside)
    tl.store(c_ptr + i, a + b, mask=inside)
#@ end


def add(a, b, c):
    n = c.numel()
    vector_add[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)


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


def measure(n):
    a = torch.randn(n, device=DEVICE)
    b = torch.randn(n, device=DEVICE)
    c = torch.full((n,), float("nan"), device=DEVICE)
    add(a, b, c)
    # One float addition, rounded the same way everywhere: equal to the last bit.
    result = {"name": f"n = {n}", "rung": "triton", "ok": bool(torch.equal(c, a + b))}
    if INTERPRETED:
        result.update(device="triton interpreter", median_ms=None, gbps=None, samples=0)
    else:
        ms = median_ms(lambda: add(a, b, c))
        result.update(device=torch.cuda.get_device_name(), median_ms=ms, gbps=12 * n / ms / 1e6, samples=SAMPLES)
    return result


def main():
    try:
        sizes = [int(argument) for argument in sys.argv[1:]]
    except ValueError:
        fail("expected sizes as whole numbers, such as 1048576")
    if any(n < 1 for n in sizes):
        fail("expected sizes of at least 1")
    results = []
    for n in sizes or (INTERPRETER_SIZES if INTERPRETED else GPU_SIZES):
        results.append(measure(n))
        print(json.dumps(results[-1]), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
