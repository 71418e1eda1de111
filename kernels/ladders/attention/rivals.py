"""Who else computes attention: PyTorch's, by cuDNN, by FlashAttention, and unfused."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

LIMIT = 1e-2  # weights and results are rounded to bf16
ROWS = 64  # of a head, that are computed in float64


def expected(case):
    """Rows of a few heads, in float64."""
    q, k, v, causal = (*(case.buffers[name] for name in "qkv"), case.sizes["causal"])
    batch, heads, queries, d = q.shape
    keys, group = k.shape[2], heads // k.shape[1]
    rows = torch.unique(torch.linspace(0, queries - 1, min(ROWS, queries), device="cuda").long())
    exact, indices = [], []
    for b, h in {(0, 0), (batch - 1, heads - 1), (batch // 2, heads // 2)}:
        scores = q[b, h, rows].double() @ k[b, h // group].double().T / d**0.5
        if causal:
            seen = torch.arange(keys, device="cuda")[None, :] <= rows[:, None] + keys - queries
            scores = scores.masked_fill(~seen, float("-inf"))
        exact.append(torch.nan_to_num(torch.softmax(scores, dim=1)) @ v[b, h // group].double())
        first = ((b * heads + h) * queries + rows) * d
        indices.append((first[:, None] + torch.arange(d, device="cuda")).reshape(-1))
    return {"out": (torch.cat(exact), torch.cat(indices))}


def sdpa(case, backend):
    q, k, v = (case.buffers[name] for name in "qkv")
    causal = bool(case.sizes["causal"])
    if causal and q.shape[2] != k.shape[2]:
        raise case.Unavailable("its causal mask is another one where there are more keys than queries")
    shared = q.shape[1] != k.shape[1]

    def run():
        with sdpa_kernel(backend):
            return {"out": torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=shared)}

    return run


def cudnn(case):
    return sdpa(case, SDPBackend.CUDNN_ATTENTION)


def flash(case):
    return sdpa(case, SDPBackend.FLASH_ATTENTION)


def unfused(case):
    q, k = case.buffers["q"], case.buffers["k"]
    if q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] * 12 > torch.cuda.mem_get_info()[0]:
        raise case.Unavailable("its scores do not fit into memory")
    return sdpa(case, SDPBackend.MATH)
