"""Who else quantizes rows to INT8: PyTorch, as it is and compiled."""

import torch

LIMIT = 2e-3  # of the codes as whole numbers: a few that are off by one, where 1 / scale is multiplied


def scales_of(x):
    return x.abs().amax(dim=1, keepdim=True).float() / 127


def codes_of(x, scales):
    return (x / scales).round().clamp(-127, 127).to(torch.int8)


def quantized(x):
    scales = scales_of(x)
    return codes_of(x, scales), scales


def expected(case):
    """A few rows. The definition is in float: a division, then the rounding."""
    x = case.buffers["x"]
    rows = torch.unique(torch.linspace(0, x.shape[0] - 1, min(64, x.shape[0]), device="cuda").long())
    indices = rows[:, None] * x.shape[1] + torch.arange(x.shape[1], device="cuda")
    scales = scales_of(x[rows])
    codes = codes_of(x[rows], scales)
    return {
        "y_codes": (codes.double().reshape(-1), indices.reshape(-1)),
        "y_scales": (scales.double().reshape(-1), rows),
    }


def eager(case):
    x = case.buffers["x"]

    def run():
        codes, scales = quantized(x)
        return {"y_codes": codes, "y_scales": scales}

    return run


def compiled(case):
    x = case.buffers["x"]
    quantize = torch.compile(quantized, dynamic=False)

    def run():
        codes, scales = quantize(x)
        return {"y_codes": codes, "y_scales": scales}

    return run
