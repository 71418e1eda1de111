// Takes boxes where k is even.
// rejected for: bad_launch
// leads to: even if k is even
#include "tma.cuh"
// lockstep: block = 288
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
#define STAGES 3
#define TILE_BYTES 16384
#define STAGE_BYTES 32768

__device__ inline void read_fragments(uint32_t (&from_a)[4][4], uint32_t (&from_b)[2][4], uint32_t stage, int quarter, int warp_row,
                                      int warp_column)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++)
        load_matrices(from_a[i], stage + swizzled(warp_row + 16 * i + lane % 16, 2 * quarter + lane / 16));
#pragma unroll
    for (int j = 0; j < 2; j++)
        load_matrices(from_b[j], stage + TILE_BYTES + swizzled(warp_column + 16 * j + lane / 16 * 8 + lane % 8, 2 * quarter + lane / 8 % 2));
}

extern "C" __global__ void __launch_bounds__(288, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared), full = ring + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
    const int tiles_m = ceil_div(m, 128);
    const int first_row = blockIdx.x % tiles_m * 128, first_column = blockIdx.x / tiles_m * 128;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int steps = ceil_div(k, 64);
    const bool boxes = k % 2 == 0;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(full + 8 * stage, boxes ? 1 : 32);
            barrier_init(empty + 8 * stage, 8);
        }
        barrier_init_fence();
    }
    __syncthreads();

    auto copy = [&](int step, uint32_t stage, uint32_t barrier) {
        if (boxes) {
            barrier_expect(barrier, STAGE_BYTES);
            load_box_here(stage, &a_map, barrier, step * 64, first_row);
            load_box_here(stage + TILE_BYTES, &b_map, barrier, step * 64, first_column);
        } else {
            copy_rows(stage, a, first_row, 128, step * 64, m, k, lane, 32);
            copy_rows(stage + TILE_BYTES, b, first_column, 128, step * 64, n, k, lane, 32);
            barrier_arrive(barrier);
        }
    };

    if (warp == 8) {
        if (boxes && lane > 0) return;
        for (int step = 0; step < steps; step++) {
            const int s = step % STAGES;
            barrier_wait(empty + 8 * s, (step / STAGES + 1) & 1);
            copy(step, ring + s * STAGE_BYTES, full + 8 * s);
        }
        return;
    }

    const int warp_row = warp % 2 * 64, warp_column = warp / 2 * 32;
    float d[4][4][4] = {};
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int s = step % STAGES;
        const uint32_t stage = ring + s * STAGE_BYTES;
        barrier_wait(full + 8 * s, (step / STAGES) & 1);

#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            uint32_t from_a[4][4], from_b[2][4];
            read_fragments(from_a, from_b, stage, quarter, warp_row, warp_column);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma_bf16(d[i][j], from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
        }
        __syncwarp();
        if (lane == 0) barrier_arrive(empty + 8 * s);
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int row = first_row + warp_row + 16 * i + lane / 4, column = first_column + warp_column + 8 * j + lane % 4 * 2;
            store_pair(c, row, column, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 8, column, m, n, d[i][j][2], d[i][j][3]);
        }
    }
}
