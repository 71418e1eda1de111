#include "lab.cuh"

// Matrix product, rung 12: the last turn of tiles is shared out, so that all multiprocessors end together.
//
// 4096 x 4096 outputs are 1024 tiles of 128 x 128. An H200 has 132 multiprocessors with room for two blocks each: four
// turns of 264, and in the last one 32 places stay empty, 3 % of the time. Here each tile of the last turn is cut along
// k. Its own block does the first part, and a second block, a helper, does the rest. The 32 empty places take 8 helpers
// each, one after another, and these end when the tiles' own blocks do if a helper has a ninth of a tile: 3.89 turns in
// place of 4. Who comes to the end first stores its sums, the other adds its own to them. Nobody waits for a block that
// has not begun, and as x + y = y + x the bits are the same every time.
//
// Two blocks of 128 x 128 on a multiprocessor, not one of 128 x 256 as in rung 10: while one block loads its first
// operands, stores its sums or stands at a barrier, the other multiplies.
// Launches of this kernel must not overlap: they share the counters.
// lockstep: block = BM * BN / 128
// lockstep: grid = ceil_div(m, BM) * ceil_div(n, BN) + ceil_div(m, BM) * ceil_div(n, BN) % PLACES
// lockstep: dynamic_shared_bytes = 8 * BK * (BM + PAD + BN)
#define BM 128
#define BN 128
#define BK 8
#define PAD 4
#define BLOCKS_PER_SM 2
#define BAND 8
// Blocks that run at a time: 132 multiprocessors, two each.
#define PLACES 264
// A helper that has fewer steps than this costs more than it spares.
#define LEAST_STEPS 8

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

// For each tile of the last turn: how many of its two blocks have come to the end, and 2 more when the sums of the
// first of them lie in c. 0 again at the end of the launch.
__device__ unsigned ended[PLACES];

// Adds to a counter and says what it was. Release: what this thread wrote, or saw before a barrier, is visible to who
// sees the new number. Acquire: this thread sees what those before it wrote.
__device__ unsigned add_in_order(unsigned* counter, unsigned more)
{
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(more) : "memory");
    return before;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];

    // Blocks are numbered down the columns of a band of BAND tile rows, then along it, then band by band: those that
    // run together need the same few rows of a and columns of b, and find them in L2.
    const int tiles_m = ceil_div(m, BM), tiles_n = ceil_div(n, BN);
    const int tiles = tiles_m * tiles_n, last_turn = tiles % PLACES, whole_turns = tiles - last_turn;
    // The tiles of the last turn leave PLACES - last_turn places empty, which get so many helpers each, one
    // after another. All end together if a tile's own block has as many steps as those have together.
    const int helpers = ceil_div(last_turn, PLACES - last_turn);
    const int steps = ceil_div(k, BK), helper_steps = steps / (helpers + 1), own_steps = steps - helper_steps;
    const bool is_helper = blockIdx.x >= tiles;
    const int place = is_helper ? blockIdx.x - last_turn : blockIdx.x;
    const bool is_cut = place >= whole_turns && helper_steps >= LEAST_STEPS;
    if (is_helper && !is_cut) {
        return;
    }
    const int band = place / (BAND * tiles_n), in_band = place % (BAND * tiles_n);
    const int band_rows = min(BAND, tiles_m - band * BAND);
    const int row0 = (band * BAND + in_band % band_rows) * BM;
    const int col0 = in_band / band_rows * BN;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_row = warp / WARPS_N * 64 + lane / 4 * 4;  // and 32 further down
    const int my_col = warp % WARPS_N * 64 + lane % 4 * 4;  // and 16, 32, 48 to the right
    // A block whose tiles all exist, with rows that begin at multiples of 16 bytes, needs no questions.
    const bool whole = k % 4 == 0 && n % 4 == 0 && row0 + BM <= m && col0 + BN <= n;

    // What this thread brings of each tile: A_PASSES x A_CHUNKS float4 of a, B_PASSES of b.
    constexpr int A_STEP = THREADS / 2, A_PASSES = BM / A_STEP, A_CHUNKS = BK / 8;
    constexpr int B_STEP = THREADS / (BN / 4), B_PASSES = BK / B_STEP;
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const int k_begin = is_helper ? own_steps * BK : 0;
    const int k_end = min(k, (is_cut && !is_helper ? own_steps : steps) * BK);
    const float* next_a = a + (long long)(row0 + a_row) * k + k_begin + a_col;
    const float* next_b = b + (long long)(k_begin + b_row) * n + col0 + b_col;
    float4 from_a[A_PASSES][A_CHUNKS], from_b[B_PASSES];
    auto fetch = [&](int k0) {
        if (whole && k0 + BK <= k_end) {
#pragma unroll
            for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
                for (int q = 0; q < A_CHUNKS; q++) {
                    from_a[p][q] = *reinterpret_cast<const float4*>(next_a + (long long)p * A_STEP * k + 8 * q);
                }
            }
#pragma unroll
            for (int p = 0; p < B_PASSES; p++) {
                from_b[p] = *reinterpret_cast<const float4*>(next_b + (long long)p * B_STEP * n);
            }
        } else {
#pragma unroll
            for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
                for (int q = 0; q < A_CHUNKS; q++) {
                    from_a[p][q] = read_4(next_a + (long long)p * A_STEP * k + 8 * q,
                                          row0 + a_row + p * A_STEP < m ? k_end - k0 - a_col - 8 * q : 0, k % 4 == 0);
                }
            }
#pragma unroll
            for (int p = 0; p < B_PASSES; p++) {
                from_b[p] = read_4(next_b + (long long)p * B_STEP * n,
                                   k0 + b_row + p * B_STEP < k_end ? n - col0 - b_col : 0, n % 4 == 0);
            }
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

    bool adds = false;
    if (is_cut) {
        __shared__ unsigned before;
        unsigned* const counter = ended + (place - whole_turns);
        if (threadIdx.x == 0) {
            before = add_in_order(counter, 1);
            if (before != 0) {
                while (add_in_order(counter, 0) != 4) {
                }
                atomicExch(counter, 0);
            }
        }
        __syncthreads();
        adds = before != 0;
    }
    if (adds) {
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const int row = row0 + my_row + 32 * (r / 4) + r % 4;
#pragma unroll
            for (int s = 0; s < 16; s++) {
                const int col = col0 + my_col + 16 * (s / 4) + s % 4;
                if (whole || (row < m && col < n)) {
                    atomicAdd(c + (long long)row * n + col, sum[r][s]);
                }
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const int row = row0 + my_row + 32 * (r / 4) + r % 4;
#pragma unroll
            for (int s = 0; s < 16; s++) {
                const int col = col0 + my_col + 16 * (s / 4) + s % 4;
                if (whole || (row < m && col < n)) {
                    c[(long long)row * n + col] = sum[r][s];
                }
            }
        }
    }
    if (is_cut && !adds) {
        __syncthreads();
        if (threadIdx.x == 0) {
            add_in_order(ended + (place - whole_turns), 2);
        }
    }
}
