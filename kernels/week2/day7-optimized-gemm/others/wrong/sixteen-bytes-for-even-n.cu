// Stores 16 bytes at once where n is even.
// rejected for: misaligned
// leads to: multiple of 16
#include "mma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGES * STAGE_BYTES
#define STAGES 3
#define TILE_BYTES 16384
#define STAGE_BYTES 32768

__device__ inline void start_copy(uint32_t tile, const uint16_t* matrix, int first, int x, int rows, int k)
{
    if (k % 8) return copy_rows(tile, matrix, first, 128, x, rows, k, threadIdx.x, 128);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = threadIdx.x / 8 + 16 * i, piece = threadIdx.x % 8;
        const bool inside = first + row < rows && x + 8 * piece < k;
        const uint16_t* from = inside ? matrix + static_cast<int64_t>(first + row) * k + x + 8 * piece : matrix;
        copy_async(tile + swizzled(row, piece), from, inside ? 16 : 0);
    }
}

__device__ inline void read_fragments(uint32_t (&from_a)[4][4], uint32_t (&from_b)[4][4], uint32_t stage, int quarter, int warp_row,
                                      int warp_column)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++)
        load_matrices(from_a[i], stage + swizzled(warp_row + 16 * i + lane % 16, 2 * quarter + lane / 16));
#pragma unroll
    for (int j = 0; j < 4; j++)
        load_matrices(from_b[j], stage + TILE_BYTES + swizzled(warp_column + 16 * j + lane / 16 * 8 + lane % 8, 2 * quarter + lane / 8 % 2));
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const int tiles_m = ceil_div(m, 128);
    const int first_row = blockIdx.x % tiles_m * 128, first_column = blockIdx.x / tiles_m * 128;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp % 2 * 64, warp_column = warp / 2 * 64;
    const int steps = ceil_div(k, 64);

    float d[4][8][4] = {};

    auto fetch = [&](int step) {
        if (step < steps) {
            const uint32_t stage = ring + step % STAGES * STAGE_BYTES;
            start_copy(stage, a, first_row, step * 64, m, k);
            start_copy(stage + TILE_BYTES, b, first_column, step * 64, n, k);
        }
        copy_commit();
    };
    for (int step = 0; step < STAGES - 1; step++) fetch(step);

    for (int step = 0; step < steps; step++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);
        const uint32_t stage = ring + step % STAGES * STAGE_BYTES;
#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            uint32_t from_a[4][4], from_b[4][4];
            read_fragments(from_a, from_b, stage, quarter, warp_row, warp_column);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) mma_bf16(d[i][j], from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
        }
    }

    copy_wait<0>();
    __syncthreads();
    uint16_t* out = reinterpret_cast<uint16_t*>(shared);             // 128 rows of 136
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++) {
            const int row = warp_row + 16 * i + lane / 4, column = warp_column + 8 * j + 2 * (lane % 4);
            *reinterpret_cast<uint32_t*>(out + row * 136 + column) = pack_bf16(d[i][j][0], d[i][j][1]);
            *reinterpret_cast<uint32_t*>(out + (row + 8) * 136 + column) = pack_bf16(d[i][j][2], d[i][j][3]);
        }
    __syncthreads();
    for (int p = threadIdx.x; p < 128 * 16; p += 128) {
        const int r = p / 16, q = p % 16 * 8;
        if (first_row + r >= m) break;
        uint16_t* to = c + static_cast<int64_t>(first_row + r) * n + first_column + q;
        if (n % 2 == 0) {
            if (first_column + q < n) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(out + r * 136 + q);
        } else {
            for (int e = 0; e < 8; e++)
                if (first_column + q + e < n) to[e] = out[r * 136 + q + e];
        }
    }
}
