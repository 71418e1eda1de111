"""Holds the training-memory calculator to what PyTorch keeps: counts the bytes that autograd saves in one transformer layer,
and the state of an optimizer. Runs on the CPU: what is saved does not depend on the device, only the allocator's rounding does.

Usage: python training_memory.py
Prints one line for each case: rows * h elements of 1, as multiples of s * b * h (linear part) and a * s * s * b (scores).
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    """The layer of Korthikanti and others (2022): pre-norm, GELU, dropout after softmax and after both halves."""

    def __init__(self, h, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
        self.qkv, self.out = nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.up, self.down = nn.Linear(h, 4 * h), nn.Linear(4 * h, h)

    def forward(self, x):
        b, s, h = x.shape
        q, k, v = (
            part.view(b, s, self.heads, h // self.heads).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(h, -1)
        )
        if self.fused:
            a = F.scaled_dot_product_attention(q, k, v)
        else:
            # The scale on q, so that scores are kept once.
            p = F.dropout(torch.softmax((q / (h // self.heads) ** 0.5) @ k.transpose(-1, -2), -1), 0.1)
            a = p @ v
        x = x + F.dropout(self.out(a.transpose(1, 2).reshape(b, s, h)), 0.1)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), 0.1)


def saved(layer, x):
    """Bytes of different storages that the forward pass keeps, parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in layer.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = layer(x)
    del y
    return sum(size for size, _ in kept.values())


def main():
    torch.manual_seed(0)
    print("torch", torch.__version__)
    h, heads = 256, 8
    for dtype in (torch.bfloat16, torch.float32):
        for fused in (True, False):
            row = []
            for b, s in ((2, 128), (2, 256), (4, 256)):
                layer = Layer(h, heads, fused).to(dtype)
                x = torch.randn(b, s, h, dtype=dtype, requires_grad=True)
                row.append((b, s, saved(layer, x)))
            # Two lengths separate what grows with s from what grows with s squared.
            (b, s, one), (_, s2, two), (b3, _, four) = row
            squared = (two - 2 * one) / (heads * b * (s2 * s2 - 2 * s * s))
            linear = (one - squared * heads * s * s * b) / (s * b * h)
            print(f"{str(dtype):15} fused={fused!s:5} linear {linear:.3f} sbh, scores {squared:.3f} as2b, twice the batch {four / two:.3f}")
    model = nn.Linear(64, 64, bias=False)
    for name, optimizer in (
        ("Adam", torch.optim.AdamW(model.parameters())),
        ("momentum", torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)),
        ("gradient descent", torch.optim.SGD(model.parameters(), 0.1)),
    ):
        model(torch.randn(2, 64)).sum().backward()
        optimizer.step()
        state = sum(
            t.numel() * t.element_size()
            for values in optimizer.state.values()
            for t in values.values()
            if torch.is_tensor(t) and t.numel() > 1
        )
        print(f"{name}: {state / (64 * 64):.2f} bytes a parameter")


if __name__ == "__main__":
    main()
