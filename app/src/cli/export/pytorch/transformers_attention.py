"""Attention of a transformers model through this package. Written for transformers 4.57 to 5; the interface is documented.

    import transformers_attention            # registers "PACKAGE"
    model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="PACKAGE")

A decode step (one query) with heads of 64 goes to the kernel; everything else, prefill above all, goes to PyTorch's own
attention. transformers keeps its cache in 16 bits and hands over all of it, so this example quantizes the whole cache in
every step: it shows where the kernel plugs in and that the text comes out right. For speed the cache itself must hold
codes, as vllm_backend.py outlines.
"""

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

import PACKAGE

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def quantize_keys(k):
    """Codes in e4m3 and one scale for all."""
    scale = (k.abs().amax() / 448).clamp_min(1e-12).float()
    return (k.float() / scale).to(torch.float8_e4m3fn), scale.reshape(1)


def quantize_values(v):
    """NVFP4: two codes in a byte (the even column low), an e4m3 scale for 16, one scale for all."""
    blocks = v.float().unflatten(-1, (-1, 16))
    whole = (v.abs().amax().float() / (6 * 448)).clamp_min(1e-12)
    scales = (blocks.abs().amax(-1) / 6 / whole).to(torch.float8_e4m3fn)
    step = (scales.float() * whole).unsqueeze(-1)
    x = torch.where(step > 0, blocks / step, 0.0)
    magnitudes = torch.tensor(E2M1, device=v.device)
    # Ties go to the even code: a midpoint counts for the lower code where that one is even.
    middles = (magnitudes[1:] + magnitudes[:-1]) / 2
    code = torch.bucketize(x.abs(), middles)                      # a tie: lower code
    is_tie = (x.abs().unsqueeze(-1) == middles).any(-1)
    code = torch.where(is_tie & (code % 2 == 1), code + 1, code)
    code = (code + 8 * torch.signbit(x)).to(torch.uint8).flatten(-2)
    return code[..., 0::2] | code[..., 1::2] << 4, scales, whole.reshape(1)


def paged(x, page_size):
    """`[batch, key_heads, tokens, d]` to pages `[batch * pages, page_size, key_heads, d]`, each sequence in order."""
    batch, heads, tokens, depth = x.shape
    pages = -(-tokens // page_size)
    x = torch.nn.functional.pad(x.transpose(1, 2), (0, 0, 0, 0, 0, pages * page_size - tokens))
    return x.reshape(batch * pages, page_size, heads, depth).contiguous()


def attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **more):
    batch, heads, queries, depth = query.shape
    usual = depth**-0.5
    plain = queries != 1 or depth != 64 or attention_mask is not None or abs((scaling or usual) - usual) > 1e-9
    if plain or not query.is_cuda:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, dropout=dropout, **more)
    page_size, tokens = 16, key.shape[2]
    k_codes, k_scale = quantize_keys(paged(key, page_size))
    v_codes, v_scales, v_scale = quantize_values(paged(value, page_size))
    table = torch.arange(k_codes.shape[0], dtype=torch.int32, device=query.device).reshape(batch, -1)
    lengths = torch.full((batch,), tokens, dtype=torch.int32, device=query.device)
    q = query.squeeze(2).float().contiguous()
    out = PACKAGE.NAME(q, k_codes, v_codes, v_scales, k_scale, v_scale, table, lengths)
    return out.to(query.dtype).unsqueeze(1), None


AttentionInterface.register("PACKAGE", attention)
