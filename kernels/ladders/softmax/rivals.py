"""Who else computes softmax of rows: PyTorch, as it is and compiled."""

import torch

LIMIT = 1e-2  # the last rung is in bf16


def sampled(case):
    """A few rows, and the flat indices of their elements."""
    x = case.buffers["x"]
    rows = torch.unique(torch.linspace(0, x.shape[0] - 1, min(64, x.shape[0]), device="cuda").long())
    indices = rows[:, None] * x.shape[1] + torch.arange(x.shape[1], device="cuda")
    return x[rows].double(), indices.reshape(-1)


def expected(case):
    x, indices = sampled(case)
    return {"y": (torch.softmax(x, dim=1).reshape(-1), indices)}


def eager(case):
    x, y = case.buffers["x"], case.buffers["y"]

    def run():
        torch.softmax(x, dim=1, out=y)

    return run


def compiled(case):
    x = case.buffers["x"]
    softmax = torch.compile(lambda x: torch.softmax(x, dim=1), dynamic=False)
    return lambda: {"y": softmax(x)}
