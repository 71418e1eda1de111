// C = A * B^T on a consumer Blackwell (sm_120, sm_121): bf16, the copy engine, mma.sync.
//
// lockstep: block = 288
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
//
// Rung 1 of the ladder matmul-blackwell: the fastest for desktop Blackwell, with three stages in the 99 KiB of shared
// memory that a block has there. Slot and parity are counted and not computed, which saves a division a step.
#include "tma.cuh"

#define STAGES 3
#define STAGE_BYTES 32768
constexpr int TILE = 128, WARPS = 8;
constexpr int ROW = 64; // elements of K in the 128 bytes of a stage's row

extern "C" __global__ void __launch_bounds__(288, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), full = base + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
    int tiles_m = ceil_div(m, TILE);
    int row0 = blockIdx.x % tiles_m * TILE, column0 = blockIdx.x / tiles_m * TILE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = ceil_div(k, ROW);
    // The copy engine wants rows of a multiple of 16 bytes. Otherwise the ninth warp copies element by element.
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 32);
            barrier_init(empty + 8 * s, WARPS);
        }
        barrier_init_fence();
    }
    __syncthreads();

    int slot = 0, parity = 0;
    if (warp == WARPS) {
        if (boxes && lane) return;
        for (int step = 0; step < steps; ++step) {
            uint32_t stage = base + slot * STAGE_BYTES, barrier = full + 8 * slot;
            barrier_wait(empty + 8 * slot, parity ^ 1);
            if (boxes) {
                barrier_expect(barrier, STAGE_BYTES);
                load_box_here(stage, &a_map, barrier, step * ROW, row0);
                load_box_here(stage + TILE * 128, &b_map, barrier, step * ROW, column0);
            } else {
                copy_rows(stage, a, row0, TILE, step * ROW, m, k, lane, 32);
                copy_rows(stage + TILE * 128, b, column0, TILE, step * ROW, n, k, lane, 32);
                barrier_arrive(barrier);
            }
            if (++slot == STAGES) slot = 0, parity ^= 1;
        }
        return;
    }

    int warp_row = warp % 2 * 64, warp_column = warp / 2 * 32;
    // The row that this lane points ldmatrix at; both are lane % 8 modulo 8, which is the swizzle.
    uint32_t a_row = (warp_row + lane % 16) * 128, b_row = (TILE + warp_column + lane / 16 * 8 + lane % 8) * 128;
    float d[4][4][4] = {};
    for (int step = 0; step < steps; ++step) {
        uint32_t stage = base + slot * STAGE_BYTES;
        barrier_wait(full + 8 * slot, parity);
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) { // 32 of the row's 128 bytes
            uint32_t fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrices(fa[i], stage + a_row + i * 16 * 128 + (((quarter * 2 + lane / 16) ^ (lane % 8)) << 4));
#pragma unroll
            for (int j = 0; j < 2; ++j)
                load_matrices(fb[j], stage + b_row + j * 16 * 128 + (((quarter * 2 + lane / 8 % 2) ^ (lane % 8)) << 4));
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) mma_bf16(d[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncwarp();
        if (lane == 0) barrier_arrive(empty + 8 * slot);
        if (++slot == STAGES) slot = 0, parity ^= 1;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = row0 + warp_row + i * 16 + lane / 4, x = column0 + warp_column + j * 8 + lane % 4 * 2;
            store_pair(c, row, x, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 8, x, m, n, d[i][j][2], d[i][j][3]);
        }
}
