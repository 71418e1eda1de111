#!/usr/bin/env python3
"""Trains the small language model that `lockstep decode` runs, on the text of this course.

Needs PyTorch (2.4 or later) and nothing else; Lockstep itself needs neither. On one GPU:

    python assets/small-model/train.py --out /tmp/small-model

A few steps on a CPU, to try the script: --steps 60 --batch 8 --context 256 --device cpu.

The model is a decoder-only transformer over bytes (256 tokens, no tokenizer): RMS norm, grouped-query
attention with rotary positions, SwiGLU, embedding and output tied. README.md beside this file says what
each tensor is. Written into --out:

    model.safetensors   fp16 weights; the header's `__metadata__` holds every number that a reader needs
    held-out.txt        the part of the lessons that training and the choice of the checkpoint never saw
    training.json       recipe, versions, seed, loss curve, results
"""

import argparse
import hashlib
import json
import math
import pathlib
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

# One place for the model's shape: it goes into the weights file, and the reader takes it from there.
SHAPE = {
    "vocabulary": 256,
    "width": 256,
    "layers": 4,
    "query_heads": 4,
    "key_heads": 2,
    "head_dim": 64,
    "hidden": 192,
    "context": 1024,
    "rope_base": 10000.0,
    "norm_epsilon": 1e-5,
}


# --- text ---------------------------------------------------------------------------------------------


def sections(text):
    """A lesson in pieces, each beginning with a heading: what is held out is whole sections."""
    pieces, piece, in_code = [], [], False
    for line in text.splitlines(keepends=True):
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code and piece:
            pieces.append("".join(piece))
            piece = []
        piece.append(line)
    pieces.append("".join(piece))
    return pieces


def corpus(root):
    """Bytes to learn from, to choose the checkpoint by, and to measure with; and what was read.

    Whole sections of the lessons are drawn by a hash of their words, so that a lesson which is added or
    moved changes nothing about the others: one in 12 is held out, one in 24 chooses the checkpoint.
    """
    learn, choose, held_out, files = [], [], [], []
    for path in sorted((root / "curriculum").rglob("*.md")):
        if path.name not in ("lesson.md", "page.md", "problem.md"):
            continue
        files.append(path)
        for section in sections(path.read_text(encoding="utf-8")):
            lot = int.from_bytes(hashlib.sha256(section.encode()).digest()[:4]) % 24
            is_lesson = path.name == "lesson.md" and len(section) > 200
            (held_out if is_lesson and lot < 2 else choose if is_lesson and lot == 2 else learn).append(section)
    # Notes, quizzes and the course's own kernels: the same words and the code they are about.
    more = [*(root / "curriculum").rglob("notes.toml"), *(root / "curriculum").rglob("quiz.toml")]
    for name in ("reference.cu", "solution.cu", "scaffold.cu"):
        more += (root / "kernels").rglob(name)
    more += (root / "kernels").glob("**/experiments/*.cu")
    for path in sorted(more):
        files.append(path)
        learn.append(path.read_text(encoding="utf-8"))
    joined = ["\n".join(part).encode() for part in (learn, choose, held_out)]
    return joined, files


# --- model --------------------------------------------------------------------------------------------


def rms_norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, SHAPE["norm_epsilon"])


def rotate(x, cos, sin):
    """Rotary positions: element i of the first half of a head turns with element i of the second."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def rotary(length, device):
    half = SHAPE["head_dim"] // 2
    frequency = SHAPE["rope_base"] ** (-torch.arange(half, device=device, dtype=torch.float32) / half)
    angle = torch.arange(length, device=device, dtype=torch.float32)[:, None] * frequency
    return angle.cos(), angle.sin()


class Layer(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        width, depth, hidden = SHAPE["width"], SHAPE["head_dim"], SHAPE["hidden"]
        self.attention_norm = nn.Parameter(torch.ones(width))
        self.query = nn.Linear(width, SHAPE["query_heads"] * depth, bias=False)
        self.key = nn.Linear(width, SHAPE["key_heads"] * depth, bias=False)
        self.value = nn.Linear(width, SHAPE["key_heads"] * depth, bias=False)
        self.output = nn.Linear(SHAPE["query_heads"] * depth, width, bias=False)
        self.hidden_norm = nn.Parameter(torch.ones(width))
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.dropout = dropout

    def forward(self, x, cos, sin, seen=None):
        batch, length, _ = x.shape
        normed = rms_norm(x, self.attention_norm)

        def heads(y):
            return y.view(batch, length, -1, SHAPE["head_dim"]).transpose(1, 2)

        q = rotate(heads(self.query(normed)), cos, sin)
        k = rotate(heads(self.key(normed)), cos, sin)
        v = heads(self.value(normed))
        if seen is not None:
            seen.append((k, v))
        group = SHAPE["query_heads"] // SHAPE["key_heads"]
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        drop = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(q, k, v, dropout_p=drop, is_causal=True)
        attended = self.output(attended.transpose(1, 2).reshape(batch, length, -1))
        x = x + F.dropout(attended, self.dropout, self.training)
        normed = rms_norm(x, self.hidden_norm)
        hidden = self.down(F.silu(self.gate(normed)) * self.up(normed))
        return x + F.dropout(hidden, self.dropout, self.training)


class Model(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.embedding = nn.Embedding(SHAPE["vocabulary"], SHAPE["width"])
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(SHAPE["layers"]))
        self.final_norm = nn.Parameter(torch.ones(SHAPE["width"]))
        self.dropout = dropout
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                # What is added to the stream is made smaller the more layers add to it.
                scale = 0.02 / (math.sqrt(2 * SHAPE["layers"]) if "output" in name or "down" in name else 1.0)
                nn.init.normal_(parameter, std=scale)

    def forward(self, tokens, seen=None):
        cos, sin = rotary(tokens.shape[1], tokens.device)
        x = F.dropout(self.embedding(tokens), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, cos, sin, seen)
        return F.linear(rms_norm(x, self.final_norm), self.embedding.weight)


# --- training -----------------------------------------------------------------------------------------


def draw(data, batch, context, generator):
    starts = torch.randint(0, len(data) - context - 1, (batch,), generator=generator)
    rows = torch.stack([data[start : start + context + 1] for start in starts.tolist()])
    return rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def nats_per_byte(model, data, context, device):
    """Mean loss over all of `data`, in windows of `context` with no overlap."""
    model.eval()
    total, count = 0.0, 0
    for start in range(0, len(data) - 1, context):
        window = data[start : start + context + 1].to(device)[None]
        logits = model(window[:, :-1]).float()
        total += F.cross_entropy(logits[0], window[0, 1:], reduction="sum").item()
        count += window.shape[1] - 1
    return total / count


@torch.no_grad()
def largest_of_cache(model, data, context, device):
    """Largest magnitude of each layer's keys (after rotation) and values: what fixed scales are made from."""
    model.eval()
    k_most, v_most = [0.0] * SHAPE["layers"], [0.0] * SHAPE["layers"]
    for start in range(0, len(data) - 1, context):
        seen = []
        model(data[start : start + context].to(device)[None], seen)
        for layer, (k, v) in enumerate(seen):
            k_most[layer] = max(k_most[layer], k.abs().max().item())
            v_most[layer] = max(v_most[layer], v.abs().max().item())
    return k_most, v_most


@torch.no_grad()
def sample(model, prompt, count, device):
    """The most probable byte each time, as `lockstep decode` takes it."""
    model.eval()
    tokens = torch.tensor(list(prompt.encode()), device=device)[None]
    for _ in range(count):
        logits = model(tokens[:, -SHAPE["context"] :])[:, -1]
        tokens = torch.cat((tokens, logits.argmax(-1, keepdim=True)), dim=1)
    return bytes(tokens[0].tolist()).decode(errors="replace")


# --- file ---------------------------------------------------------------------------------------------


def write_safetensors(path, tensors, metadata):
    """The safetensors format: length of the header (u64, little-endian), header (JSON), then all bytes."""
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * 2
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.contiguous().cpu().numpy().tobytes())


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=pathlib.Path, required=True, help="folder for the three files")
    options.add_argument("--steps", type=int, default=4000)
    options.add_argument("--batch", type=int, default=48)
    options.add_argument("--context", type=int, default=SHAPE["context"])
    options.add_argument("--dropout", type=float, default=0.2)
    options.add_argument("--rate", type=float, default=1.5e-3, help="highest learning rate")
    options.add_argument("--decay", type=float, default=0.1, help="weight decay of the matrices")
    options.add_argument("--seed", type=int, default=4)
    options.add_argument("--every", type=int, default=100, help="steps between measurements")
    options.add_argument("--seconds", type=float, default=170.0, help="stop in time: the schedule is fitted to this")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = options.parse_args()

    torch.manual_seed(options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    device = torch.device(options.device)
    torch.set_float32_matmul_precision("high")
    root = pathlib.Path(__file__).resolve().parents[2]
    parts, files = corpus(root)
    learn, choose, held_out = (torch.frombuffer(bytearray(part), dtype=torch.uint8).long() for part in parts)
    print(f"{len(files)} files: {len(learn)} bytes to learn, {len(choose)} to choose, {len(held_out)} held out")

    model = Model(options.dropout).to(device)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{count} parameters, {2 * count} bytes in fp16, on {device}")
    matrices = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    vectors = [parameter for parameter in model.parameters() if parameter.dim() == 1]
    groups = [{"params": matrices, "weight_decay": options.decay}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.95))
    learn_there = learn.to(device)

    def rate_at(share):
        warm_up = 0.03
        if share < warm_up:
            return options.rate * share / warm_up
        return options.rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (share - warm_up) / (1 - warm_up))))

    curve, best, best_weights, best_step = [], math.inf, None, 0
    began, running, steps = time.time(), 0.0, 0
    for step in range(1, options.steps + 1):
        # Of steps and time whichever is further on: a slow machine ends with a low rate too.
        share = max(step / options.steps, (time.time() - began) / options.seconds)
        if share > 1.0 and step % options.every == 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate_at(min(share, 1.0))
        model.train()
        inputs, targets = draw(learn_there, options.batch, options.context, generator)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            logits = model(inputs)
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.detach()
        steps = step
        if step % options.every == 0 or step == options.steps:
            chosen = nats_per_byte(model, choose, options.context, device)
            trained = float(running) / (step - (curve[-1]["step"] if curve else 0))
            running = 0.0
            curve.append({"step": step, "seconds": round(time.time() - began, 1), "train": trained, "choose": chosen})
            print(f"step {step:5d}  train {trained:.4f}  choose {chosen:.4f} nats a byte", flush=True)
            if chosen < best:
                best, best_step = chosen, step
                best_weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
    seconds = time.time() - began

    # Everything below is measured with the weights as they are stored.
    model.load_state_dict({name: value.half().float() for name, value in best_weights.items()})
    held = nats_per_byte(model, held_out, options.context, device)
    k_most, v_most = largest_of_cache(model, choose, options.context, device)
    text = sample(model, "A warp is ", 400, device)
    print(f"held out: {held:.4f} nats a byte, perplexity {math.exp(held):.3f} a byte\n{text}")

    options.out.mkdir(parents=True, exist_ok=True)
    metadata = {name: str(value) for name, value in SHAPE.items()}
    metadata["k_largest"] = json.dumps(k_most)
    metadata["v_largest"] = json.dumps(v_most)
    metadata["trained_context"] = str(options.context)
    tensors = {name.replace(".weight", ""): value.half() for name, value in best_weights.items()}
    write_safetensors(options.out / "model.safetensors", tensors, metadata)
    (options.out / "held-out.txt").write_bytes(parts[2])
    digest = hashlib.sha256(b"".join(parts)).hexdigest()
    record = {
        "what": "training of the small model: losses in nats a byte",
        "command": " ".join(["train.py", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "torch": torch.__version__,
        "seed": options.seed,
        "shape": SHAPE,
        "parameters": count,
        "recipe": {
            "optimizer": "AdamW, betas 0.9 and 0.95, gradient norm clipped to 1",
            "rate": options.rate,
            "schedule": "linear to full in the first 3 %, cosine down to 5 %",
            "weight_decay": options.decay,
            "dropout": options.dropout,
            "batch": options.batch,
            "context": options.context,
            "steps": steps,
            "chosen_step": best_step,
            "seconds": round(seconds, 1),
        },
        "text": {
            "files": len(files),
            "learn_bytes": len(learn),
            "choose_bytes": len(choose),
            "held_out_bytes": len(held_out),
            "sha256": digest,
        },
        "held_out_nats_per_byte": held,
        "held_out_perplexity_per_byte": math.exp(held),
        "sample": text,
        "curve": curve,
    }
    (options.out / "training.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {options.out} after {seconds:.0f} s of training")


if __name__ == "__main__":
    main()
