// C = A * B^T: a tile a block, and loads before all else. For small sizes.
//
// lockstep: block = 128 * CONSUMERS + 32
// lockstep: grid = ceil_div(m, 64 * CONSUMERS) * ceil_div(n, TILE_N)
// lockstep: dynamic_shared_bytes = STAGES * (128 * (64 * CONSUMERS + TILE_N) + 16)
//
// 2048 x 2048 outputs are 128 tiles of 128 x 256, fewer than an H200 has multiprocessors: no block gets a second one, and
// what blocks that stay do for it (rungs 9 to 15) is only in the way. Against rung 13:
//   - The thread that copies makes the barriers, and so may load at once; the others are still on their way to
//     __syncthreads.
//   - One warp copies in place of a warpgroup. With 288 threads each may have 224 registers without asking for more.
//   - The results go into stages that are free by then, and need no room of their own.
// At 1024 tiles of 64 x 128 (CONSUMERS 1, TILE_N 128, STAGES 6) are 128 again. There a tenth of the time is gained, at 2048
// 3 %, against rung 13 with the tiles that suit it best. What is left at 1024 is mostly no product: the tensor cores are
// busy 47 % of a block's time (ncu; cuBLASLt's kernel 46 %), the rest are the launch, the first loads and the stores.
// Also tried: clusters of two and of four, which load a third to a half less (1 to 8 % slower, and 70 to 85 %: of four,
// not all blocks find a place at once); fetching A and B into L2 ahead (4 % slower at 2048); stores from registers (20 %
// slower); two blocks of a cluster for one tile, each with half of k (30 % slower at 1024); 128 x 128 with two blocks a
// multiprocessor (1 % slower at 2048).
#include "hopper.cuh"

// Multiplying warpgroups, each with 64 rows of the tile.
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef STAGES
#define STAGES 4
#endif

constexpr int TILE_M = 64 * CONSUMERS;
constexpr int STAGE_BYTES = 128 * (TILE_M + TILE_N);
constexpr int PIECES = TILE_N / 64; // 64 x 64 results
constexpr int THREADS = 128 * CONSUMERS + 32;
static_assert(PIECES <= STAGES, "each piece of the results is put into a stage of its own");

extern "C" __global__ void __launch_bounds__(THREADS, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), full = base + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
    int warp = __shfl_sync(FULL_MASK, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    bool copies = warp == 4 * CONSUMERS;
    int tiles_m = ceil_div(m, TILE_M), row0 = blockIdx.x % tiles_m * TILE_M, column0 = blockIdx.x / tiles_m * TILE_N;
    int steps = ceil_div(k, 64), first = least(STAGES, steps);
    // The copy engine wants rows of a multiple of 16 bytes. Otherwise the maps are empty, and the warp copies element by
    // element.
    bool boxes = k % 8 == 0;

    auto load = [&](int step) {
        uint32_t slot = step % STAGES, stage = base + slot * STAGE_BYTES, barrier = full + 8 * slot;
        barrier_expect(barrier, STAGE_BYTES);
        load_box(stage, &a_map, barrier, step * 64, row0);
        load_box(stage + TILE_M * 128, &b_map, barrier, step * 64, column0);
    };
    if (warp < 3 && lane == 0) prefetch_map(warp == 0 ? &a_map : warp == 1 ? &b_map : &c_map);
    if (copies && lane == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 32);
            barrier_init(empty + 8 * s, CONSUMERS);
        }
        barrier_init_fence();
        if (boxes)
            for (int step = 0; step < first; ++step) load(step);
    }
    __syncthreads();

    if (copies) {
        if (boxes && lane) return; // the copy engine needs one thread
        for (int step = boxes ? first : 0; step < steps; ++step) {
            uint32_t slot = step % STAGES;
            barrier_wait(empty + 8 * slot, step / STAGES % 2 ^ 1); // the first turn does not wait
            if (boxes) {
                load(step);
            } else {
                uint32_t stage = base + slot * STAGE_BYTES;
                copy_rows(stage, a, row0, TILE_M, step * 64, m, k, lane, 32);
                copy_rows(stage + TILE_M * 128, b, column0, TILE_N, step * 64, n, k, lane, 32);
                fence_async_shared();
                barrier_arrive(full + 8 * slot);
            }
        }
        return;
    }
    int consumer = warp / 4, slot = 0, parity = 0;
    uint32_t used = 0; // `empty` of the step before
    float d[TILE_N / 2];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        uint32_t stage = base + slot * STAGE_BYTES;
        barrier_wait(full + 8 * slot, parity);
        wgmma_fence();
        wgmma_bf16(d, operand(stage + consumer * 64 * 128), operand(stage + TILE_M * 128), step);
        wgmma_commit();
        wgmma_wait<1>(); // the step before is done: its stage may be filled again
        if (step && threadIdx.x % 128 == 0) barrier_arrive(used);
        used = empty + 8 * slot;
        if (++slot == STAGES) slot = 0, parity ^= 1;
    }
    wgmma_wait<0>();
    int row = row0 + consumer * 64;
    if (n % 8) return store_slab(d, c, row, column0, m, n);
    // Nothing more is loaded: these rows of A, in a stage for each piece, are this warp's to use.
    row += warp % 4 * 16;
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) {
        uint32_t buffer = base + piece * STAGE_BYTES + warp * 2048;
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) { // 16 columns: two pieces of 16 bytes in each row
            const float* v = d + piece * 32 + pair * 8;
            store_matrices(buffer + swizzled(lane % 16, pair * 2 + lane / 16), pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]),
                           pack_bf16(v[4], v[5]), pack_bf16(v[6], v[7]));
        }
        fence_async_shared();
        __syncwarp();
        if (lane == 0) {
            int column = column0 + piece * 64;
            if (row < m && column < n) store_box(&c_map, buffer, column, row);
            store_commit();
        }
    }
    store_wait_read<0>(); // before this block's shared memory goes away
}
