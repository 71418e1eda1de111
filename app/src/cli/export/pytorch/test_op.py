"""The operation against float64 results, which Lockstep's reference computed when this package was written.

    python -m pytest tests        # or, where there is no pytest:
    python tests/test_op.py
"""

import importlib.resources
import json
import pathlib

import torch

import PACKAGE
from PACKAGE import _launch

DATA = pathlib.Path(__file__).parent / "data"
CASES = json.loads((DATA / "cases.json").read_text())

try:
    import pytest

    NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
except ImportError:

    def NEEDS_GPU(test):
        test.needs_gpu = True
        return test

    def EACH_CASE(test):
        test.each_case = True
        return test



def tensor(case, name, device):
    about = case["tensors"][name]
    raw = bytearray((DATA / about["file"]).read_bytes())
    return torch.frombuffer(raw, dtype=getattr(torch, about["dtype"])).reshape(about["shape"]).to(device)


def arguments(case, device):
    return [tensor(case, a, device) if isinstance(a, str) else a for a in case["arguments"]]


def results(case, device):
    got = PACKAGE.NAME(*arguments(case, device))
    return got if isinstance(got, tuple) else (got,)


def agrees(case, got):
    assert len(got) == len(case["expected"])
    for name, tensor_ in zip(case["expected"], got):
        values = torch.frombuffer(bytearray((DATA / case["expected"][name]["values"]).read_bytes()), dtype=torch.float64)
        limits = torch.frombuffer(bytearray((DATA / case["expected"][name]["limits"]).read_bytes()), dtype=torch.float64)
        error = (tensor_.double().cpu().flatten() - values).abs()
        assert bool((error <= limits).all()), f"{name}: off by {float((error / limits).max()):.1f} times the tolerance"


def test_the_package_is_whole():
    for cubin in _launch.MANIFEST["cubins"].values():
        assert (importlib.resources.files(PACKAGE) / cubin).is_file(), cubin


@EACH_CASE
def test_the_fake_knows_the_shape(case):
    """Runs without a GPU: the fake computes no number."""
    given = arguments(case, "cpu")
    with torch._subclasses.FakeTensorMode() as mode:
        fakes = [mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in given]
        got = PACKAGE.NAME(*fakes)
    got = got if isinstance(got, tuple) else (got,)
    for name, fake in zip(case["expected"], got):
        about = case["expected"][name]
        assert list(fake.shape) == about["shape"] and fake.dtype == getattr(torch, about["dtype"])


@NEEDS_GPU
@EACH_CASE
def test_against_float64(case):
    agrees(case, results(case, "cuda"))


@NEEDS_GPU
def test_opcheck():
    # Types of eight bits as plain bytes: opcheck compares arguments, for which PyTorch has no kernel in those types.
    given = arguments(CASES[-1], "cuda")
    plain = [a.view(torch.uint8) if isinstance(a, torch.Tensor) and "float8" in str(a.dtype) else a for a in given]
    torch.library.opcheck(PACKAGE.NAME, tuple(plain))


@NEEDS_GPU
def test_under_compile():
    case = CASES[-1]
    compiled = torch.compile(lambda *a: PACKAGE.NAME(*a), fullgraph=True)
    got = compiled(*arguments(case, "cuda"))
    agrees(case, got if isinstance(got, tuple) else (got,))


@NEEDS_GPU
def test_in_a_cuda_graph():
    case = CASES[-1]
    given = arguments(case, "cuda")
    PACKAGE.NAME(*given)  # loads the module: that cannot be recorded
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = PACKAGE.NAME(*given)
    got = got if isinstance(got, tuple) else (got,)
    for out in got:
        out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    agrees(case, got)


@NEEDS_GPU
def test_on_another_stream():
    case = CASES[-1]
    given = arguments(case, "cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        got = PACKAGE.NAME(*given)
    stream.synchronize()
    agrees(case, got if isinstance(got, tuple) else (got,))


def main():
    """What pytest would do, in twenty lines."""
    passed = failed = skipped = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        marks = {mark.name for mark in getattr(test, "pytestmark", [])}
        if (hasattr(test, "needs_gpu") or "skipif" in marks) and not torch.cuda.is_available():
            skipped += 1
            continue
        each = hasattr(test, "each_case") or "parametrize" in marks
        for case in CASES if each else [None]:
            try:
                test(case) if each else test()
                passed += 1
            except Exception as error:
                failed += 1
                print(f"FAILED {name} {case['name'] if case else ''}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
