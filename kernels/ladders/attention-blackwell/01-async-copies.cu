// Attention on consumer Blackwell (sm_120, sm_121): mma.sync, with tiles that cp.async fetches while the warps compute.
//
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(queries, 16 * BANDS * WARPS) * batch * heads
// lockstep: dynamic_shared_bytes = HEAD * 2 * (16 * BANDS * WARPS + 2 * TILE_N)
//
// These chips have no wgmma; bf16 goes through mma.sync, at the full rate of their tensor cores. A block may have 99 KB of shared memory
// and a multiprocessor 100 KB: with tiles of 32 keys for d = 128, two blocks fit, so that one multiplies while the other computes its
// softmax. The kernel is that of the rung 04-async-copies.cu of the ladder for Hopper.
#include "mma.cuh"

// Elements of a query, a key or a value: 64 or 128.
#ifndef HEAD
#define HEAD 128
#endif
#ifndef WARPS
#define WARPS 4
#endif
// Bands of 16 queries that a warp has.
#ifndef BANDS
#define BANDS 2
#endif
// Keys of a tile.
#ifndef TILE_N
#define TILE_N 32
#endif

constexpr int THREADS = 32 * WARPS, TILE_M = 16 * BANDS * WARPS;
constexpr float SCALE_LOG2 = 1.44269504f * (HEAD == 64 ? 0.125f : 0.0883883476f); // log2(e) / sqrt(HEAD)

// As load_matrices, with each matrix transposed on the way: this lane holds rows 2 * (l % 4) and one more of column l / 4.
__device__ inline void load_transposed(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

__device__ inline float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Where 8 elements from `column` on of row `row` lie in a tile of `rows` rows: in panels of 64 elements, swizzled.
__device__ inline uint32_t place(int rows, int row, int column)
{
    return column / 64 * rows * 128 + swizzled(row, column / 8 % 8);
}

// Starts copying COUNT rows of HEAD elements from row `first`; zeros past the last one.
template <int COUNT>
__device__ inline void fetch(uint32_t tile, const uint16_t* matrix, int first, int rows)
{
#pragma unroll
    for (int i = threadIdx.x; i < COUNT * HEAD / 8; i += THREADS) {
        int row = i / (HEAD / 8), column = i % (HEAD / 8) * 8;
        const uint16_t* from = matrix + static_cast<int64_t>(least(first + row, rows - 1)) * HEAD + column;
        copy_async(tile + place(COUNT, row, column), from, first + row < rows ? 16 : 0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
attention(const uint16_t* q, const uint16_t* k, const uint16_t* v, uint16_t* out, float* lse, int batch, int heads, int key_heads,
          int queries, int keys, int causal)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t q_tile = shared_address(shared), k_tile = q_tile + TILE_M * HEAD * 2, v_tile = k_tile + TILE_N * HEAD * 2;
    int down = ceil_div(queries, TILE_M);
    // The last rows first: with a causal mask they have the most keys.
    int matrix = blockIdx.x / down, row0 = (down - 1 - static_cast<int>(blockIdx.x % down)) * TILE_M;
    int sequence = matrix / heads, key_matrix = sequence * key_heads + matrix % heads / (heads / key_heads);
    q += static_cast<int64_t>(matrix) * queries * HEAD;
    k += static_cast<int64_t>(key_matrix) * keys * HEAD;
    v += static_cast<int64_t>(key_matrix) * keys * HEAD;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int first_row = warp * 16 * BANDS;
    // What a lane points ldmatrix at. Rows differ by multiples of 8, which the swizzle does not see; a step of 16 columns turns bits 5
    // and 6 of the address, a panel of 64 columns adds its size.
    uint32_t q_at = q_tile + first_row * 128 + swizzled(lane % 16, lane / 16);
    uint32_t k_at = k_tile + swizzled(lane / 16 * 8 + lane % 8, lane / 8 % 2), v_at = v_tile + swizzled(lane % 16, lane / 16);
    auto visible = [&](int row) { return causal ? least(keys, row + 1 + keys - queries) : keys; };
    int seen_by_all = visible(row0 + first_row); // keys that every row of this warp sees
    int tiles = greatest(1, ceil_div(visible(least(row0 + TILE_M, queries) - 1), TILE_N));

    float o[BANDS][HEAD / 8][4] = {}, top[BANDS][2], sum[BANDS][2] = {};
#pragma unroll
    for (int band = 0; band < BANDS; ++band) top[band][0] = top[band][1] = -INFINITY;

    fetch<TILE_M>(q_tile, q, row0, queries);
    fetch<TILE_N>(k_tile, k, (tiles - 1) * TILE_N, keys);
    copy_commit();
#pragma unroll 1
    for (int at = tiles - 1; at >= 0; --at) {
        copy_wait<0>();
        __syncthreads(); // the keys are here, and everyone has read the values before
        fetch<TILE_N>(v_tile, v, at * TILE_N, keys);
        copy_commit();

        float s[BANDS][TILE_N / 8][4] = {};
#pragma unroll
        for (int step = 0; step < HEAD / 16; ++step) {
            uint32_t a[BANDS][4];
#pragma unroll
            for (int band = 0; band < BANDS; ++band)
                load_matrices(a[band], (q_at ^ step % 4 * 32) + step / 4 * TILE_M * 128 + band * 2048);
#pragma unroll
            for (int j = 0; j < TILE_N / 16; ++j) {
                uint32_t b[4];
                load_matrices(b, (k_at ^ step % 4 * 32) + step / 4 * TILE_N * 128 + j * 2048);
#pragma unroll
                for (int band = 0; band < BANDS; ++band) {
                    mma_bf16(s[band][2 * j], a[band], b[0], b[1]);
                    mma_bf16(s[band][2 * j + 1], a[band], b[2], b[3]);
                }
            }
        }
        copy_wait<0>();
        __syncthreads(); // the values are here, and everyone has read the keys
        if (at > 0) {
            fetch<TILE_N>(k_tile, k, (at - 1) * TILE_N, keys);
            copy_commit();
        }

        bool hide = (at + 1) * TILE_N > seen_by_all;
#pragma unroll
        for (int band = 0; band < BANDS; ++band) {
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                int limit = visible(row0 + first_row + band * 16 + g + r * 8) - at * TILE_N - t * 2;
                float most = -INFINITY;
#pragma unroll
                for (int j = 0; j < TILE_N / 8; ++j)
#pragma unroll
                    for (int e = 2 * r; e < 2 * r + 2; ++e) {
                        if (hide && j * 8 + e % 2 >= limit) s[band][j][e] = -INFINITY;
                        most = fmaxf(most, s[band][j][e]);
                    }
                most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 1));
                most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 2));
                most = fmaxf(top[band][r], most * SCALE_LOG2);
                float subtract = most == -INFINITY ? 0.0f : most; // no key of this row so far
                float factor = power_of_two(top[band][r] - subtract);
                top[band][r] = most;
                float part = 0.0f;
#pragma unroll
                for (int j = 0; j < TILE_N / 8; ++j)
#pragma unroll
                    for (int e = 2 * r; e < 2 * r + 2; ++e) part += s[band][j][e] = power_of_two(fmaf(s[band][j][e], SCALE_LOG2, -subtract));
                sum[band][r] = sum[band][r] * factor + part;
#pragma unroll
                for (int j = 0; j < HEAD / 8; ++j) o[band][j][2 * r] *= factor, o[band][j][2 * r + 1] *= factor;
            }
        }

#pragma unroll
        for (int step = 0; step < TILE_N / 16; ++step) {
            uint32_t a[BANDS][4]; // sums of the first product lie as the second one wants its left operand
#pragma unroll
            for (int band = 0; band < BANDS; ++band)
#pragma unroll
                for (int i = 0; i < 4; ++i) a[band][i] = pack_bf16(s[band][2 * step + i / 2][i % 2 * 2], s[band][2 * step + i / 2][i % 2 * 2 + 1]);
#pragma unroll
            for (int j = 0; j < HEAD / 16; ++j) {
                uint32_t b[4];
                load_transposed(b, (v_at ^ j % 4 * 32) + j / 4 * TILE_N * 128 + step * 2048);
#pragma unroll
                for (int band = 0; band < BANDS; ++band) {
                    mma_bf16(o[band][2 * j], a[band], b[0], b[1]);
                    mma_bf16(o[band][2 * j + 1], a[band], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int band = 0; band < BANDS; ++band)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float total = sum[band][r];
            total += __shfl_xor_sync(FULL_MASK, total, 1);
            total += __shfl_xor_sync(FULL_MASK, total, 2);
            int row = row0 + first_row + band * 16 + g + r * 8;
            if (row >= queries) continue;
            float share = total == 0.0f ? 0.0f : 1.0f / total;
            int64_t line = static_cast<int64_t>(matrix) * queries + row;
            if (t == 0) lse[line] = total == 0.0f ? -INFINITY : top[band][r] * 0.693147181f + logf(total);
            uint32_t* to = reinterpret_cast<uint32_t*>(out + line * HEAD);
#pragma unroll
            for (int j = 0; j < HEAD / 8; ++j) to[j * 4 + t] = pack_bf16(o[band][j][2 * r] * share, o[band][j][2 * r + 1] * share);
        }
}
