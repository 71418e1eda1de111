"""Who else decodes over a cache: PyTorch's attention, by cuDNN and by FlashAttention, over the same numbers in bf16."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

LIMIT = 1e-2  # results and V are rounded to bf16 by the rivals
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def plain(case):
    """K and V as [batch, key heads, keys, 128] in bf16: K without its scale, which is exact."""
    if "plain" not in case.__dict__:
        buffers = case.buffers
        table = torch.tensor(E2M1 + [-x for x in E2M1], device="cuda", dtype=torch.bfloat16)
        k = buffers["k_codes"].to(torch.bfloat16)
        codes = buffers["v_codes"]
        v = torch.empty(k.shape, device="cuda", dtype=torch.bfloat16)
        v[..., 0::2] = table[(codes & 15).int()]
        v[..., 1::2] = table[(codes >> 4).int()]
        scales = buffers["v_scales"].to(torch.bfloat16) * buffers["v_scale"].to(torch.bfloat16)
        v.view(*scales.shape, 16).mul_(scales.unsqueeze(-1))
        case.plain = [x.transpose(1, 2).contiguous() for x in (k, v)]
    return case.plain


def scale(case):
    return float(case.buffers["k_scale"]) / 128**0.5


def expected(case):
    """A few heads, in float64, of the cache as it is."""
    k, v = plain(case)
    q, lengths = case.buffers["q"], case.buffers["lengths"]
    heads, group = q.shape[1], q.shape[1] // k.shape[1]
    exact, indices = [], []
    for b, h in {(0, 0), (q.shape[0] - 1, heads - 1), (q.shape[0] // 2, heads // 2)}:
        n = int(lengths[b])
        own_k, own_v = k[b, h // group, :n].double(), v[b, h // group, :n].double()
        weights = torch.softmax(scale(case) * (own_k @ q[b, h].double()), dim=0)
        exact.append(weights @ own_v)
        first = (b * heads + h) * 128
        indices.append(torch.arange(first, first + 128, device="cuda"))
    return {"out": (torch.cat(exact), torch.cat(indices))}


def sdpa(case, backend):
    k, v = plain(case)
    if int(case.buffers["lengths"].min()) != k.shape[2]:
        raise case.Unavailable("it takes sequences of one length only")
    q = case.buffers["q"].unsqueeze(2)
    factor = scale(case)

    def run():
        with sdpa_kernel(backend):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=factor, enable_gqa=True)
        return {"out": out.squeeze(2)}

    return run


def cudnn(case):
    return sdpa(case, SDPBackend.CUDNN_ATTENTION)


def flash(case):
    return sdpa(case, SDPBackend.FLASH_ATTENTION)
