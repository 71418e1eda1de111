"""Where the kernel plugs into SGLang 0.5.23: a function that makes a backend, registered by name.

    import sglang_backend                     # before the server starts
    python -m sglang.launch_server --attention-backend PACKAGE …

NOT RUN by Lockstep's makers: this file was written from SGLang's source, which makes no promise of stability.
"""

try:
    from sglang.srt.layers.attention.attention_registry import register_attention_backend
    from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
except ImportError as missing:
    raise ImportError(f"this example needs SGLang 0.5.23: {missing}") from missing


class Backend(AttentionBackend):
    """Decode through PACKAGE.NAME; everything else has to come from a backend that SGLang has."""

    def __init__(self, runner):
        super().__init__()
        self.runner = runner

    def init_forward_metadata(self, forward_batch):
        # Page table and lengths stay on the GPU: a CUDA graph replays this step.
        self.lengths = forward_batch.seq_lens.to("cuda", dtype=None)

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **named):
        raise NotImplementedError("append k and v in codes to a pool of your own, then call PACKAGE.NAME")

    def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True, **named):
        raise NotImplementedError("prefill: hand it to a backend that SGLang has")


@register_attention_backend("PACKAGE")
def create(runner):
    return Backend(runner)
