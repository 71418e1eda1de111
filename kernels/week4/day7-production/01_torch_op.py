# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "torch"]
# ///
"""A PyTorch operation of one's own, without a kernel: y = x * scale, on a CPU.

What `lockstep export pytorch` writes for a kernel has the same three parts: the operation, its fake, its test. Prints one
line of JSON, which Lockstep shows:

    {"name": "n = 1000", "rung": "PyTorch operation", "device": "CPU", "median_ms": 0.02, "samples": 30, "ok": true}

    python 01_torch_op.py
"""

import importlib.util
import json
import statistics
import sys
import time

SAMPLES = 30

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None:
    message = f"torch or numpy not found in {sys.executable}; install with: python -m pip install numpy torch"
    print(json.dumps({"rung": "PyTorch operation", "ok": False, "error": message}))
    sys.exit(2)

import torch


#@ op
@torch.library.custom_op("lockstep_demo::scaled", mutates_args=())
def scaled(x: torch.Tensor, scale: float) -> torch.Tensor:
    return x * scale                       # here a kernel would be launched


@scaled.register_fake
def _(x, scale):
    return torch.empty_like(x)             # shape, type and device of the result, nothing else


torch.library.opcheck(scaled, (torch.randn(5), 2.0))
#@ end


def measure(n):
    x = torch.randn(n)
    ok = torch.equal(scaled(x, 3.0), x * 3.0)
    # Traced with fake tensors: no number is computed, and the shape must come out all the same.
    with torch._subclasses.FakeTensorMode() as mode:
        ok &= tuple(scaled(mode.from_tensor(x), 3.0).shape) == (n,)
    samples = []
    for _ in range(SAMPLES):
        began = time.perf_counter()
        scaled(x, 3.0)
        samples.append((time.perf_counter() - began) * 1e3)
    median = statistics.median(samples)
    return {"name": f"n = {n}", "rung": "PyTorch operation", "device": "CPU", "median_ms": median, "samples": SAMPLES, "ok": bool(ok)}


def main():
    results = [measure(n) for n in (1, 1000)]
    for result in results:
        print(json.dumps(result), flush=True)
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()
