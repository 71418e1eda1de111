"""Times the operation: random data, L2 flushed before every call, events around the call, in a CUDA graph and without.

    python benchmarks/benchmark.py            # the largest case of the tests, and repeated 64 times where it has a batch

Prints one line of JSON for each case: medians and spread in microseconds, with GPU, driver and versions.
"""

import json
import pathlib
import statistics
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

import test_op  # noqa: E402

import PACKAGE  # noqa: E402

SAMPLES = 50


def timed(call, flush):
    samples = []
    for _ in range(SAMPLES):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1e3)
    ordered = sorted(samples)
    return {"median_us": round(statistics.median(samples), 2), "p10_us": round(ordered[SAMPLES // 10], 2),
            "p90_us": round(ordered[-SAMPLES // 10], 2)}


def main():
    if not torch.cuda.is_available():
        sys.exit("no GPU: a benchmark on anything else would say nothing")
    flush = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    for case in test_op.CASES:
        given = test_op.arguments(case, "cuda")
        for _ in range(3):
            PACKAGE.NAME(*given)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            PACKAGE.NAME(*given)
        eager, replayed = timed(lambda: PACKAGE.NAME(*given), flush), timed(graph.replay, flush)
        moved = sum(t.numel() * t.element_size() for t in given if isinstance(t, torch.Tensor))
        print(json.dumps({"case": case["name"], "eager": eager, "graph": replayed, "input_bytes": moved, **about}), flush=True)


if __name__ == "__main__":
    main()
