# /// script
# requires-python = ">=3.9"
# dependencies = []
# ///
"""How large is a KV cache, and how long does reading it take? Change the numbers at the top and run it again."""

#@ model
LAYERS, KEY_HEADS, HEAD_SIZE = 32, 8, 128  # a model of about 8 billion parameters
TOKENS, SEQUENCES = 131_072, 4
GPU_BYTES, WEIGHT_BYTES, BYTES_PER_SECOND = 141e9, 16e9, 4.4e12  # one H200
#@ end

#@ bytes
BYTES = {"bf16": 2.0, "e4m3": 1.0, "nvfp4": 0.5 + 1 / 16}  # an NVFP4 block of 16 has one byte of scale


def per_token(keys: str, values: str) -> float:
    """Bytes that one token adds to the cache of all layers."""
    return LAYERS * KEY_HEADS * HEAD_SIZE * (BYTES[keys] + BYTES[values])
#@ end


def main() -> None:
    print(f"{'keys':>6} {'values':>6} {'bytes/token':>12} {'cache GB':>9} {'fit':>4} {'ms a step':>10} {'times':>6}")
    for keys, values in [("bf16", "bf16"), ("e4m3", "e4m3"), ("e4m3", "nvfp4"), ("nvfp4", "nvfp4")]:
        token = per_token(keys, values)
        one = token * TOKENS
        fit = int((GPU_BYTES - WEIGHT_BYTES) // one)
        step = 1e3 * one * SEQUENCES / BYTES_PER_SECOND
        times = per_token("bf16", "bf16") / token
        print(f"{keys:>6} {values:>6} {token:12,.0f} {one * SEQUENCES / 1e9:9.1f} {fit:4} {step:10.2f} {times:5.2f}x")


if __name__ == "__main__":
    main()
