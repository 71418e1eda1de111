// Attention: wgmma, and tiles that the copy engine fetches.
//
// lockstep: block = THREADS
// lockstep: grid = ceil_div(queries, 128) * batch * heads
// lockstep: dynamic_shared_bytes = HEAD * 2 * (128 + 2 * STAGES * TILE_N) + 64
//
// Against the rung before: two warpgroups with 64 queries each, whose products are one instruction for 64 x TILE_N scores, with the
// keys read from shared memory once for all four warps. Weights stay in registers: wgmma takes its left operand from there as
// mma.sync does. One thread has boxes of keys and values copied two tiles ahead.
#include "hopper.cuh"

// Elements of a query, a key or a value: 64 or 128.
#ifndef HEAD
#define HEAD 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#define STAGES 2
#define THREADS 256
#define SLACK 0

constexpr int TILE_M = 128;
constexpr int PANELS = HEAD / 64; // a row is cut into pieces of 128 bytes, which the swizzle wants
constexpr int Q_BYTES = TILE_M * HEAD * 2, KV_BYTES = TILE_N * HEAD * 2;
constexpr int SCORES = TILE_N / 2, OUTPUTS = HEAD / 2; // accumulators a thread
constexpr float SCALE_LOG2 = 1.44269504f * (HEAD == 64 ? 0.125f : 0.0883883476f); // log2(e) / sqrt(HEAD)

// ---------------------------------------------------------------- instructions

// D[64 x HEAD] += P[64 x 16 * STEPS] * V[16 * STEPS x HEAD], with P in registers, four for 16 keys, and V in shared memory with a key
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
__device__ inline void add_values_4(float (&d)[32], const uint32_t* p, uint64_t v)
{
    asm volatile("{\n\t.reg .pred yes;\n\t.reg .b64 b;\n\tsetp.eq.b32 yes, 0, 0;\n\tmov.b64 b, %48;\n\t"
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%32, %33, %34, %35", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%36, %37, %38, %39", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%40, %41, %42, %43", "b") NEXT_16_KEYS
                 WEIGHTS_STEP("m64n64k16", LIST_32, "%44, %45, %46, %47", "b") "}"
                 : OPERANDS_32 : WEIGHTS_16, "l"(v));
}

// A tile of values: HEAD along the rows, in panels of 64; TILE_N * 128 bytes from panel to panel, 1024 from 8 keys to the next 8.
__device__ inline uint64_t values_operand(uint32_t address)
{
    return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (static_cast<uint64_t>(TILE_N * 8) << 16) | (64ull << 32) | (1ull << 62);
}

// Row y of matrix z: of one head, so that rows past its end are zeros and not the next head's.
__device__ inline void load_rows(uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y, int z)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(destination),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}

__device__ inline float power_of_two(float x)
{
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// ---------------------------------------------------------------- the pieces

// Scores to weights: s becomes 2^(s * SCALE_LOG2 - top), `sum` this thread's part of each row's total, and `factor` what the
// output so far has to be multiplied by. False where all factors of this warp are 1.
__device__ inline bool soften(float (&s)[SCORES], float (&top)[2], float (&sum)[2], float (&factor)[2])
{
    float most[2] = {fmaxf(s[0], s[1]), fmaxf(s[2], s[3])};
#pragma unroll
    for (int i = 4; i < SCORES; i += 4) {
        most[0] = fmaxf(most[0], fmaxf(s[i], s[i + 1]));
        most[1] = fmaxf(most[1], fmaxf(s[i + 2], s[i + 3]));
    }
    bool grown = false;
    float subtract[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        most[r] = fmaxf(most[r], __shfl_xor_sync(FULL_MASK, most[r], 1));
        most[r] = fmaxf(most[r], __shfl_xor_sync(FULL_MASK, most[r], 2)) * SCALE_LOG2;
        bool higher = most[r] > top[r] + SLACK; // from -inf too
        factor[r] = higher ? power_of_two(top[r] - most[r]) : 1.0f;
        top[r] = higher ? most[r] : top[r];
        subtract[r] = top[r] == -INFINITY ? 0.0f : top[r]; // no key of this row so far
        sum[r] *= factor[r];
        grown |= higher;
    }
#pragma unroll
    for (int i = 0; i < SCORES; i += 4) {
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i + e] = power_of_two(fmaf(s[i + e], SCALE_LOG2, -subtract[e / 2]));
        sum[0] += s[i] + s[i + 1];
        sum[1] += s[i + 2] + s[i + 3];
    }
    return __any_sync(FULL_MASK, grown);
}

// Scores of keys that a row does not see become -inf: those from `limit` on, counted from this thread's first column.
__device__ inline void mask(float (&s)[SCORES], int limit_upper, int limit_lower)
{
#pragma unroll
    for (int i = 0; i < SCORES; i += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (i * 2 + e >= limit_upper) s[i + e] = -INFINITY;
            if (i * 2 + e >= limit_lower) s[i + 2 + e] = -INFINITY;
        }
    }
}

// Four lanes hold 8 columns of a row of output in each of four words; after this, each lane has all of one of the four.
__device__ inline uint4 gather_columns(const uint32_t (&w)[4], int t)
{
    // Lanes 1 apart exchange odd and even words, then lanes 2 apart halves.
    bool odd = t & 1, upper = t & 2;
    uint32_t a = __shfl_xor_sync(FULL_MASK, odd ? w[0] : w[1], 1), b = __shfl_xor_sync(FULL_MASK, odd ? w[2] : w[3], 1);
    uint32_t x0 = odd ? a : w[0], x1 = odd ? w[1] : a, y0 = odd ? b : w[2], y1 = odd ? w[3] : b;
    uint32_t c = __shfl_xor_sync(FULL_MASK, upper ? x0 : y0, 2), d = __shfl_xor_sync(FULL_MASK, upper ? x1 : y1, 2);
    return upper ? make_uint4(c, d, y0, y1) : make_uint4(x0, x1, c, d);
}

extern "C" __global__ void __launch_bounds__(THREADS)
attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map,
          const uint16_t*, const uint16_t*, const uint16_t*, uint16_t* out, float* lse, int batch, int heads, int key_heads, int queries,
          int keys, int causal)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t q = shared_address(shared), k = q + Q_BYTES, v = k + STAGES * KV_BYTES, full = v + STAGES * KV_BYTES, q_full = full + 8 * STAGES;
    int down = ceil_div(queries, TILE_M), matrix = blockIdx.x / down, row0 = (down - 1 - static_cast<int>(blockIdx.x % down)) * TILE_M;
    int key_matrix = matrix / heads * key_heads + matrix % heads / (heads / key_heads);
    auto visible = [&](int row) { return causal ? least(keys, row + 1 + keys - queries) : keys; };
    int tiles = greatest(1, ceil_div(visible(least(row0 + TILE_M, queries) - 1), TILE_N));

    auto fetch = [&](int at) { // keys and values of a tile, by one thread
        int stage = at % STAGES;
        barrier_expect(full + 8 * stage, 2 * KV_BYTES);
        for (int p = 0; p < PANELS; ++p) {
            load_rows(k + stage * KV_BYTES + p * TILE_N * 128, &k_map, full + 8 * stage, p * 64, at * TILE_N, key_matrix);
            load_rows(v + stage * KV_BYTES + p * TILE_N * 128, &v_map, full + 8 * stage, p * 64, at * TILE_N, key_matrix);
        }
    };
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) barrier_init(full + 8 * stage, 1);
        barrier_init(q_full, 1);
        barrier_init_fence();
        barrier_expect(q_full, Q_BYTES);
        for (int p = 0; p < PANELS; ++p) load_rows(q + p * TILE_M * 128, &q_map, q_full, p * 64, row0, matrix);
        for (int at = tiles - 1; at >= 0 && at > tiles - 1 - STAGES; --at) fetch(at);
    }
    __syncthreads();

    int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128, t = threadIdx.x % 4;
    int first_row = row0 + warpgroup * 64, row = first_row + thread / 32 * 16 + thread % 32 / 4;
    int seen_by_all = visible(first_row); // keys that every row of this warpgroup sees
    int limit_upper = visible(row) - t * 2, limit_lower = visible(row + 8) - t * 2;
    float s[SCORES], o[OUTPUTS] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {}, factor[2];
    uint32_t p[SCORES / 2], parity = 0; // a bit for each stage

    barrier_wait(q_full, 0);
#pragma unroll 1
    for (int at = tiles - 1; at >= 0; --at) {
        int stage = at % STAGES;
        barrier_wait(full + 8 * stage, parity >> stage & 1);
        parity ^= 1 << stage;
        wgmma_fence();
#pragma unroll
        for (int panel = 0; panel < PANELS; ++panel)
            wgmma_bf16(s, operand(q + warpgroup * 64 * 128 + panel * TILE_M * 128), operand(k + stage * KV_BYTES + panel * TILE_N * 128), panel);
        wgmma_commit();
        wgmma_wait<0>();
        if ((at + 1) * TILE_N > seen_by_all) mask(s, limit_upper - at * TILE_N, limit_lower - at * TILE_N);
        if (soften(s, top, sum, factor)) {
#pragma unroll
            for (int i = 0; i < OUTPUTS; i += 4) {
                o[i] *= factor[0], o[i + 1] *= factor[0];
                o[i + 2] *= factor[1], o[i + 3] *= factor[1];
            }
        }
#pragma unroll
        for (int i = 0; i < SCORES / 2; ++i) p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
        wgmma_fence();
        uint64_t values = values_operand(v + stage * KV_BYTES);
#pragma unroll
        for (int i = 0; i < TILE_N / 64; ++i) add_values_4(o, p + 16 * i, values + 512 * i);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // both warpgroups have read this stage
        if (threadIdx.x == 0 && at >= STAGES) fetch(at - STAGES);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        sum[r] += __shfl_xor_sync(FULL_MASK, sum[r], 1);
        sum[r] += __shfl_xor_sync(FULL_MASK, sum[r], 2);
        float share = sum[r] == 0.0f ? 0.0f : 1.0f / sum[r];
        int64_t line = static_cast<int64_t>(matrix) * queries + row + r * 8;
        bool inside = row + r * 8 < queries;
        if (inside && t == 0) lse[line] = sum[r] == 0.0f ? -INFINITY : top[r] * 0.693147181f + logf(sum[r]);
#pragma unroll
        for (int i = 0; i < OUTPUTS; i += 16) { // 32 columns
            uint32_t words[4];
#pragma unroll
            for (int w = 0; w < 4; ++w) words[w] = pack_bf16(o[i + w * 4 + r * 2] * share, o[i + w * 4 + r * 2 + 1] * share);
            uint4 columns = gather_columns(words, t);
            if (inside) *reinterpret_cast<uint4*>(out + line * HEAD + i * 2 + t * 8) = columns;
        }
    }
}
