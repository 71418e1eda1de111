// C = A * B^T: mma.sync fed by the copy engine.
//
// lockstep: block = 384
// lockstep: grid = min(ceil_div(m, 128) * ceil_div(n, 256), 132)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
//
// Against the rung before: the copy engine brings whole tiles into the ring, asked by one thread of a warpgroup that does
// nothing else, and barriers say when a stage is full or empty. The eight multiplying warps issue no copies and never wait
// for the whole block; blocks stay and make one tile after another. The products are still mma.sync with fragments from
// ldmatrix: this is five sixths of what mma.sync does at most on Hopper, and that is two thirds of what wgmma does.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 256
#define STAGE_BYTES 49152
#define STAGES 4

extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), full = base + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
    int tiles_m = ceil_div(m, TILE_M), tiles = tiles_m * ceil_div(n, TILE_N);
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, 64);
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 128);
            barrier_init(empty + 8 * s, 8); // one arrival from each multiplying warpgroup
        }
        barrier_init_fence();
    }
    __syncthreads();

    if (warpgroup == 0) {
        give_back_registers<40>();
        if (boxes && threadIdx.x != 0) return; // the copy engine needs one thread
        int slot = 0, parity = 1;              // waiting for the phase before the first does not wait
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            int row0 = tile % tiles_m * TILE_M, column0 = tile / tiles_m * TILE_N;
            for (int step = 0; step < steps; ++step) {
                uint32_t stage = base + slot * STAGE_BYTES, barrier = full + 8 * slot;
                barrier_wait(empty + 8 * slot, parity);
                if (boxes) {
                    barrier_expect(barrier, STAGE_BYTES);
                    load_box(stage, &a_map, barrier, step * 64, row0);
                    load_box(stage + TILE_M * 128, &b_map, barrier, step * 64, column0);
                } else {
                    copy_rows(stage, a, row0, TILE_M, step * 64, m, k, threadIdx.x, 128);
                    copy_rows(stage + TILE_M * 128, b, column0, TILE_N, step * 64, n, k, threadIdx.x, 128);
                    fence_async_shared();
                    barrier_arrive(barrier);
                }
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    } else {
        take_registers<232>();
        int warp = threadIdx.x / 32 - 4, lane = threadIdx.x % 32;
        int warp_row = warp % 2 * 64, warp_column = warp / 2 * 64;
        uint32_t a_row = (warp_row + lane % 16) * 128, b_row = (TILE_M + warp_column + lane / 16 * 8 + lane % 8) * 128;
        uint32_t fa[2][4][4], fb[2][4][4];
        auto read_fragments = [&](int buffer, uint32_t stage, int sixteenth) {
            uint32_t a_at = stage + a_row + (((sixteenth * 2 + lane / 16) ^ (lane % 8)) << 4);
            uint32_t b_at = stage + b_row + (((sixteenth * 2 + lane / 8 % 2) ^ (lane % 8)) << 4);
#pragma unroll
            for (int i = 0; i < 4; ++i) load_matrices(fa[buffer][i], a_at + i * 16 * 128);
#pragma unroll
            for (int j = 0; j < 4; ++j) load_matrices(fb[buffer][j], b_at + j * 16 * 128);
        };
        int slot = 0, parity = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            float d[4][8][4] = {};
            barrier_wait(full + 8 * slot, parity);
            read_fragments(0, base + slot * STAGE_BYTES, 0);
#pragma unroll 1
            for (int step = 0; step < steps; ++step) {
                uint32_t stage = base + slot * STAGE_BYTES;
#pragma unroll
                for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
                    if (sixteenth < 3) {
                        read_fragments((sixteenth + 1) % 2, stage, sixteenth + 1);
                    } else {
                        int before = slot;
                        if (++slot == STAGES) slot = 0, parity ^= 1;
                        if (step + 1 < steps) {
                            barrier_wait(full + 8 * slot, parity);
                            read_fragments(0, base + slot * STAGE_BYTES, 0);
                        }
                        __syncwarp();
                        if (lane == 0) barrier_arrive(empty + 8 * before);
                    }
#pragma unroll
                    for (int i = 0; i < 4; ++i)
#pragma unroll
                        for (int j = 0; j < 8; ++j)
                            mma_bf16(d[i][j], fa[sixteenth % 2][i], fb[sixteenth % 2][j / 2][j % 2 * 2], fb[sixteenth % 2][j / 2][j % 2 * 2 + 1]);
                }
            }
            int row0 = tile % tiles_m * TILE_M, column0 = tile / tiles_m * TILE_N;
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    int row = row0 + warp_row + i * 16 + lane / 4, x = column0 + warp_column + j * 8 + lane % 4 * 2;
                    store_pair(c, row, x, m, n, d[i][j][0], d[i][j][1]);
                    store_pair(c, row + 8, x, m, n, d[i][j][2], d[i][j][3]);
                }
        }
    }
}
