// More registers than the block has.
// rejected for: deadlock
// leads to: launched with 168 a thread
#include "hopper.cuh"

// out = softmax(q k^T / sqrt(128)) v with wgmma. A block has 128 queries: warpgroup 0 copies, warpgroups 1 and 2 compute, with 64
// queries each. Keys and values come in tiles of 128, two of each at a time.
//
// lockstep: block = 384
// lockstep: grid = ceil_div(queries, 128) * batch * heads
// lockstep: dynamic_shared_bytes = Q_BYTES + 4 * TILE_BYTES + 128
#define D 128
#define KEYS 128
#define Q_BYTES (128 * D * 2)
#define TILE_BYTES (KEYS * D * 2)

// ---------------------------------------------------------------- instructions

// D[64 x D] += P[64 x 64] * V[64 x D], with P in registers, four for 16 keys, and V in shared memory with a key
// a row. B has its columns along the rows here: the last operand says so.
#define WEIGHTS_STEP(SHAPE, LIST, A, B) \
    "wgmma.mma_async.sync.aligned." SHAPE ".f32.bf16.bf16 {" LIST "}, {" A "}, " B ", yes, 1, 1, 1;\n\t"
#define WEIGHTS_16 "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]), \
    "r"(p[8]), "r"(p[9]), "r"(p[10]), "r"(p[11]), "r"(p[12]), "r"(p[13]), "r"(p[14]), "r"(p[15])
#define NEXT_16_KEYS "add.s64 b, b, 128;\n\t"

__device__ inline void add_values_4(float (&d)[64], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %80;\n\t"
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%64, %65, %66, %67", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%68, %69, %70, %71", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%72, %73, %74, %75", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n128k16", LIST_64, "%76, %77, %78, %79", "b") "}"
                 : OPERANDS_64 : WEIGHTS_16, "l"(v));
}

// A tile of values: D along the rows, in panels of 64; KEYS * 128 bytes from panel to panel, 1024 from 8 keys to the next 8.
__device__ inline uint64_t values_operand(uint32_t address)
{
    return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (static_cast<uint64_t>(KEYS * 8) << 16) | (64ull << 32) | (1ull << 62);
}

// Row y of matrix z: of one head, so that rows past its end are zeros and not the next head's.
__device__ inline void load_rows(uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y, int z)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(destination),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}

// ---------------------------------------------------------------- softmax

// The scores of a tile become weights, as in the main exercise: element 4j + 2r + e is row r, key 8j + 2t + e. `end` counts from the
// tile's first key, less 2t. `factor` is what the output so far has to be multiplied by.
__device__ inline void soften(float (&s)[64], float (&most)[2], float (&sum)[2], float (&factor)[2], int end_upper, int end_lower)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float now = -INFINITY;
#pragma unroll
        for (int j = 0; j < 16; j++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float& score = s[4 * j + 2 * r + e];
                if (8 * j + e >= (r ? end_lower : end_upper)) score = -INFINITY;
                now = fmaxf(now, score);
            }
        }
        now = fmaxf(now, __shfl_xor_sync(FULL_MASK, now, 1));
        now = fmaxf(now, __shfl_xor_sync(FULL_MASK, now, 2));
        now = fmaxf(most[r], now * 0.0883883476f); // 1 / sqrt(128)
        const float shift = now == -INFINITY ? 0.0f : now;
        factor[r] = __expf(most[r] - shift);
        most[r] = now;
        sum[r] *= factor[r];
#pragma unroll
        for (int j = 0; j < 16; j++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float& score = s[4 * j + 2 * r + e];
                score = __expf(fmaf(score, 0.0883883476f, -shift));
                sum[r] += score;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(384, 1)
flash_attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map,
                const uint16_t*, const uint16_t*, const uint16_t*, uint16_t* out, float* lse, int batch, int heads, int key_heads, int queries,
                int keys, int causal)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t q = shared_address(shared), k = q + Q_BYTES, v = k + 2 * TILE_BYTES, barriers = v + 2 * TILE_BYTES;
    const uint32_t q_full = barriers, k_full = barriers + 8, k_empty = k_full + 16, v_full = k_empty + 16, v_empty = v_full + 16;
    const int blocks = ceil_div(queries, 128), head = blockIdx.x / blocks, first_row = blockIdx.x % blocks * 128;
    const int key_head = head / heads * key_heads + head % heads / (heads / key_heads);
    const int last_row = least(first_row + 128, queries) - 1;
    const int tiles = greatest(1, ceil_div(causal ? least(keys, last_row + 1 + keys - queries) : keys, KEYS));

    if (threadIdx.x == 0) {
        barrier_init(q_full, 1);
        for (int slot = 0; slot < 2; slot++) {
            barrier_init(k_full + 8 * slot, 1);
            barrier_init(v_full + 8 * slot, 1);
            barrier_init(k_empty + 8 * slot, 2); // one arrival from each computing warpgroup
            barrier_init(v_empty + 8 * slot, 2);
        }
        barrier_init_fence();
    }
    __syncthreads();

    if (threadIdx.x < 128) {
        give_back_registers<40>(); // 40 + 2 * 232 are the 3 * 168 registers that three threads have at launch
        if (threadIdx.x == 0) {
            barrier_expect(q_full, Q_BYTES);
            for (int panel = 0; panel < 2; panel++) load_rows(q + panel * 128 * 128, &q_map, q_full, panel * 64, first_row, head);
            for (int tile = 0; tile < tiles; tile++) {
                const int slot = tile % 2, parity = tile / 2 % 2 ^ 1; // the first two tiles do not wait
                barrier_wait(k_empty + 8 * slot, parity);
                barrier_expect(k_full + 8 * slot, TILE_BYTES);
                for (int panel = 0; panel < 2; panel++)
                    load_rows(k + slot * TILE_BYTES + panel * KEYS * 128, &k_map, k_full + 8 * slot, panel * 64, tile * KEYS, key_head);
                barrier_wait(v_empty + 8 * slot, parity);
                barrier_expect(v_full + 8 * slot, TILE_BYTES);
                for (int panel = 0; panel < 2; panel++)
                    load_rows(v + slot * TILE_BYTES + panel * KEYS * 128, &v_map, v_full + 8 * slot, panel * 64, tile * KEYS, key_head);
            }
        }
        return;
    }

    take_registers<256>();
    const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, t = thread % 4;
    const int row = first_row + group * 64 + thread / 32 * 16 + thread % 32 / 4; // and row + 8
    const int end_upper = causal ? least(keys, row + 1 + keys - queries) : keys, end_lower = causal ? least(keys, row + 9 + keys - queries) : keys;
    float o[64] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f};

    barrier_wait(q_full, 0);
    for (int tile = 0; tile < tiles; tile++) {
        const int slot = tile % 2, parity = tile / 2 % 2;
        const int first_key = tile * KEYS + 2 * t;
        float s[64], factor[2];
        uint32_t p[32];

        // Scores: s = this warpgroup's 64 queries times the tile's keys. A row of 128 elements is two panels.
        barrier_wait(k_full + 8 * slot, parity);
        wgmma_fence();
#pragma unroll
        for (int panel = 0; panel < 2; panel++) {
            wgmma_bf16(s, operand(q + group * 64 * 128 + panel * 128 * 128), operand(k + slot * TILE_BYTES + panel * KEYS * 128), panel);
        }
        wgmma_commit();
        wgmma_wait<0>();
        if (thread == 0) barrier_arrive(k_empty + 8 * slot);

        soften(s, most, sum, factor, end_upper - first_key, end_lower - first_key);
#pragma unroll
        for (int i = 0; i < 64; i++) o[i] *= factor[i / 2 % 2];
#pragma unroll
        for (int i = 0; i < 32; i++) p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);

        // Output: o += p times the tile's values, 64 keys a call.
        barrier_wait(v_full + 8 * slot, parity);
        wgmma_fence();
#pragma unroll
        for (int half = 0; half < 2; half++) add_values_4(o, p + 16 * half, values_operand(v + slot * TILE_BYTES + half * 64 * 128));
        wgmma_commit();
        wgmma_wait<0>();
        if (thread == 0) barrier_arrive(v_empty + 8 * slot);
    }

#pragma unroll
    for (int r = 0; r < 2; r++) {
        float total = sum[r];
        total += __shfl_xor_sync(FULL_MASK, total, 1);
        total += __shfl_xor_sync(FULL_MASK, total, 2);
        const float share = total > 0.0f ? 1.0f / total : 0.0f;
        const int64_t line = (int64_t)head * queries + row + 8 * r;
        if (row + 8 * r < queries) {
#pragma unroll
            for (int j = 0; j < 16; j++) {
                *(uint32_t*)(out + line * D + j * 8 + t * 2) = pack_bf16(o[4 * j + 2 * r] * share, o[4 * j + 2 * r + 1] * share);
            }
            if (t == 0) lse[line] = total > 0.0f ? most[r] + logf(total) : -INFINITY;
        }
    }
}
