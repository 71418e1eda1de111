"""Who else casts to E4M3 with a scale: PyTorch, as it is and compiled."""

import torch

LIMIT = 2e-3  # of the codes as whole numbers: a few that are off by one, where 1 / scale is multiplied


def quantized(x, scale):
    # The cast alone makes NaN of what is too large.
    return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn)


def expected(case):
    """A few rows. The definition is in float: a division, then the rounding."""
    x = case.buffers["x"]
    rows = torch.unique(torch.linspace(0, x.shape[0] - 1, min(64, x.shape[0]), device="cuda").long())
    indices = rows[:, None] * x.shape[1] + torch.arange(x.shape[1], device="cuda")
    codes = quantized(x[rows], case.buffers["scale"])
    return {"y_codes": (codes.view(torch.uint8).double().reshape(-1), indices.reshape(-1))}


def eager(case):
    x, scale = case.buffers["x"], case.buffers["scale"]

    def run():
        return {"y_codes": quantized(x, scale).view(torch.uint8)}

    return run


def compiled(case):
    x, scale = case.buffers["x"], case.buffers["scale"]
    quantize = torch.compile(quantized, dynamic=False)

    def run():
        return {"y_codes": quantize(x, scale).view(torch.uint8)}

    return run
