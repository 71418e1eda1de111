"""Where the kernel plugs into vLLM 0.33, whose attention interface makes no promise of stability: pin the version.

In the plugin's pyproject.toml:

    [project.entry-points."vllm.general_plugins"]
    PACKAGE = "vllm_backend:register"

then `vllm serve MODEL --attention-backend CUSTOM`. NOT RUN by Lockstep's makers: this file was written from vLLM's source.
What is left to do is in the methods that raise: the metadata builder, and appending to the cache in codes.
"""

try:
    from vllm.v1.attention.backend import AttentionBackend, AttentionImpl
    from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend
except ImportError as missing:
    raise ImportError(f"this example needs vLLM 0.33: {missing}") from missing

import PACKAGE

HEAD = 64
# One row of a token and key head: 64 bytes of e4m3 keys, 32 of e2m1 values, 4 e4m3 scales, padded to whole sectors.
ROW_BYTES = 128


class Backend(AttentionBackend):
    @staticmethod
    def get_name():
        return "CUSTOM"

    @staticmethod
    def get_impl_cls():
        return Impl

    @staticmethod
    def get_builder_cls():
        raise NotImplementedError("a metadata builder: block table and sequence lengths as int32 tensors on the GPU")

    @staticmethod
    def get_kv_cache_shape(num_blocks, block_size, num_kv_heads, head_size, cache_dtype_str="auto"):
        if head_size != HEAD:
            raise ValueError(f"this kernel has heads of {HEAD}, the model {head_size}")
        return (num_blocks, block_size, num_kv_heads, ROW_BYTES)


class Impl(AttentionImpl):
    def __init__(self, num_heads, head_size, scale, num_kv_heads, *more, **named):
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads

    def forward(self, layer, query, key, value, kv_cache, attn_metadata, output=None, *more, **named):
        if attn_metadata.max_query_len != 1:
            raise NotImplementedError("prefill: hand it to a backend that vLLM has")
        # The three parts of a row, as the operation takes them.
        k_codes, v_codes, v_scales = (part.contiguous() for part in kv_cache.view(dtype=None).split((64, 32, 32), -1))
        raise NotImplementedError(
            f"append key and value in codes at attn_metadata.slot_mapping, then call {PACKAGE.NAME} with block_table and seq_lens"
        )


def register():
    register_backend(AttentionBackendEnum.CUSTOM, f"{__name__}.Backend")
