#include "lab.cuh"

// Matrix product, rung 11: small matrices fill the machine when several blocks share a tile.
//
// 1024 x 1024 outputs are 128 tiles of 64 x 128: on 132 multiprocessors that could each run four, most would idle. Here
// SPLIT blocks compute the same tile, each over its own part of k. They form a cluster, which runs at the same time and
// can read each other's shared memory: so the parts are added without going through global memory, without atomic
// additions, and in the same order every time. For large matrices it is not worth its price (rung 10 is faster from
// 2048 on): each block starts and ends a pipeline of its own. Rows that do not begin at multiples of 16 bytes (1001 x 999
// x 1003) are read float by float, which takes a quarter longer.
// lockstep: block = BM * BN / 128
// lockstep: grid = ceil_div(m, BM) * ceil_div(n, BN) * SPLIT
// lockstep: dynamic_shared_bytes = max(8 * BK * (BM + PAD + BN), 4 * BM * BN)
#define BM 64
#define BN 128
#define BK 8
#define PAD 4
#define BLOCKS_PER_SM 4
#define BAND 8
// Blocks that share a tile: 2, 4 or 8.
#define SPLIT 2

#define THREADS (BM * BN / 128)
#define WARPS_N (BN / 64)
#define PITCH (BM + PAD)
#define BUFFER_FLOATS (BK * (PITCH + BN))

__device__ float part(const float4& v, int e)
{
    return e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
}

// Four neighbors of a row, of which `count` exist; zeros for the others.
__device__ float4 read_4(const float* from, int count, bool aligned)
{
    if (aligned && count >= 4) {
        return *reinterpret_cast<const float4*>(from);
    }
    return make_float4(count > 0 ? from[0] : 0.0f, count > 1 ? from[1] : 0.0f, count > 2 ? from[2] : 0.0f,
                       count > 3 ? from[3] : 0.0f);
}

// Waits for all threads of all blocks of the cluster, and makes visible what they wrote.
__device__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// What another block of the cluster keeps at the same place of its shared memory.
__device__ float read_from_block(const float* place, int rank)
{
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(place));
    float value;
    asm volatile(
        "{\n"
        ".reg .u32 there;\n"
        "mapa.shared::cluster.u32 there, %1, %2;\n"
        "ld.shared::cluster.f32 %0, [there];\n"
        "}"
        : "=f"(value)
        : "r"(address), "r"(rank)
        : "memory");
    return value;
}

extern "C" __global__ void __cluster_dims__(SPLIT, 1, 1) __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];

    // Blocks are numbered down the columns of a band of BAND tile rows, then along it, then band by band: those that
    // run together need the same few rows of a and columns of b, and find them in L2.
    const int tiles_m = ceil_div(m, BM), tiles_n = ceil_div(n, BN);
    const int place = blockIdx.x / SPLIT, rank = blockIdx.x % SPLIT;
    const int band = place / (BAND * tiles_n), in_band = place % (BAND * tiles_n);
    const int band_rows = min(BAND, tiles_m - band * BAND);
    const int row0 = (band * BAND + in_band % band_rows) * BM;
    const int col0 = in_band / band_rows * BN;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_row = warp / WARPS_N * 64 + lane / 4 * 4;  // and 32 further down
    const int my_col = warp % WARPS_N * 64 + lane % 4 * 4;  // and 16, 32, 48 to the right
    // Rows that begin at multiples of 16 bytes need no questions: where a tile reaches past the last row of a or the
    // last columns of b, these are read again, and what comes of it is not stored. (With questions in every step the
    // blocks at the edge took a third longer at 1000 x 1000 x 1000, and all wait for the last block.)
    const bool aligned = k % 4 == 0 && n % 4 == 0;

    // What this thread brings of each tile: A_PASSES x A_CHUNKS float4 of a, B_PASSES of b.
    constexpr int A_STEP = THREADS / 2, A_PASSES = BM / A_STEP, A_CHUNKS = BK / 8;
    constexpr int B_STEP = THREADS / (BN / 4), B_PASSES = BK / B_STEP;
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const int share = ceil_div(ceil_div(k, BK), SPLIT) * BK;  // of k, in whole tiles
    const int k_begin = rank * share, k_end = min(k, k_begin + share);
    const float* next_a = a + (long long)min(row0 + a_row, m - 1) * k + k_begin + a_col;
    const float* next_b = b + (long long)(k_begin + b_row) * n + (aligned ? min(col0 + b_col, n - 4) : col0 + b_col);
    long long a_pass[A_PASSES];  // from next_a to what pass p reads
#pragma unroll
    for (int p = 0; p < A_PASSES; p++) {
        a_pass[p] = (long long)(min(row0 + a_row + p * A_STEP, m - 1) - min(row0 + a_row, m - 1)) * k;
    }
    float4 from_a[A_PASSES][A_CHUNKS], from_b[B_PASSES];
    auto fetch = [&](int k0) {
        const bool easy = aligned && k0 + BK <= k_end;
#pragma unroll
        for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
            for (int q = 0; q < A_CHUNKS; q++) {
                const float* from = next_a + a_pass[p] + 8 * q;
                const int count = row0 + a_row + p * A_STEP < m ? k_end - k0 - a_col - 8 * q : 0;
                from_a[p][q] = easy ? *reinterpret_cast<const float4*>(from) : read_4(from, count, k % 4 == 0);
            }
        }
#pragma unroll
        for (int p = 0; p < B_PASSES; p++) {
            const float* from = next_b + (long long)p * B_STEP * n;
            const int count = k0 + b_row + p * B_STEP < k_end ? n - col0 - b_col : 0;
            from_b[p] = easy ? *reinterpret_cast<const float4*>(from) : read_4(from, count, n % 4 == 0);
        }
        next_a += BK;
        next_b += (long long)BK * n;
    };
    auto store = [&](int buffer) {
        float* tile_a = shared + buffer * BUFFER_FLOATS;
        float* tile_b = tile_a + BK * PITCH;
#pragma unroll
        for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
            for (int q = 0; q < A_CHUNKS; q++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    tile_a[(a_col + 8 * q + e) * PITCH + a_row + p * A_STEP] = part(from_a[p][q], e);
                }
            }
        }
#pragma unroll
        for (int p = 0; p < B_PASSES; p++) {
            *reinterpret_cast<float4*>(tile_b + (b_row + p * B_STEP) * BN + b_col) = from_b[p];
        }
    };

    fetch(k_begin);
    store(0);
    __syncthreads();

    float sum[8][16] = {};
    __align__(16) float x[2][8], y[2][16];  // operands of this step and of the next
    auto read = [&](int set, int buffer, int step) {
        const float* tile_a = shared + buffer * BUFFER_FLOATS + step * PITCH + my_row;
        const float* tile_b = shared + buffer * BUFFER_FLOATS + BK * PITCH + step * BN + my_col;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            *reinterpret_cast<float4*>(&x[set][4 * h]) = *reinterpret_cast<const float4*>(tile_a + 32 * h);
        }
#pragma unroll
        for (int h = 0; h < 4; h++) {
            *reinterpret_cast<float4*>(&y[set][4 * h]) = *reinterpret_cast<const float4*>(tile_b + 16 * h);
        }
    };
    read(0, 0, 0);
    int buffer = 0;
#pragma unroll 1
    for (int k0 = k_begin; k0 < k_end; k0 += BK) {
        // Behind the last tile this makes zeros without touching memory.
        fetch(k0 + BK);
#pragma unroll
        for (int step = 0; step < BK; step++) {
            if (step < BK - 1) {
                read((step + 1) % 2, buffer, step + 1);
            } else {
                buffer ^= 1;
                store(buffer);
                __syncthreads();
                read(0, buffer, 0);
            }
#pragma unroll
            for (int s = 0; s < 16; s++) {
#pragma unroll
                for (int q = 0; q < 8; q++) {
                    const int r = s % 2 == 0 ? q : 7 - q;
                    sum[r][s] += x[step % 2][r] * y[step % 2][s];
                }
            }
        }
    }

    // Every block of the cluster lays its sums down, each thread its own ones side by side with its neighbors'.
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 128; e++) {
        shared[e * THREADS + threadIdx.x] = sum[e / 16][e % 16];
    }
    cluster_barrier();
    // Then it adds some of the rows, from all blocks in the same order: the same bits every time.
#pragma unroll 1
    for (int r = rank * (8 / SPLIT); r < (rank + 1) * (8 / SPLIT); r++) {
        const int row = row0 + my_row + 32 * (r / 4) + r % 4;
        float* to = c + (long long)row * n + col0 + my_col;
        float total[16] = {};
#pragma unroll
        for (int other = 0; other < SPLIT; other++) {
#pragma unroll
            for (int s = 0; s < 16; s++) {
                total[s] += read_from_block(shared + (16 * r + s) * THREADS + threadIdx.x, other);
            }
        }
#pragma unroll
        for (int h = 0; h < 4; h++) {
            if (aligned && row < m && col0 + my_col + 16 * h < n) {
                *reinterpret_cast<float4*>(to + 16 * h) =
                    make_float4(total[4 * h], total[4 * h + 1], total[4 * h + 2], total[4 * h + 3]);
            } else if (!aligned) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (row < m && col0 + my_col + 16 * h + e < n) {
                        to[16 * h + e] = total[4 * h + e];
                    }
                }
            }
        }
    }
    // Nobody leaves while others still read its shared memory.
    cluster_barrier();
}
