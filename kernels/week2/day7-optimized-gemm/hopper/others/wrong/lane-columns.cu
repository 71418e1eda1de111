// Gives neighboring lanes neighboring columns.
// rejected for: misaligned
// leads to: A pointer to `float4` counts in steps
#include "hopper.cuh"

// lockstep: block = 384
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 256)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
#define STAGES 4
#define TILE_BYTES 16384  // the tile of A: 128 rows of 64 elements
#define STAGE_BYTES 49152 // a tile of A, and behind it one of B: 256 rows of 64 elements

extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const uint32_t full = ring + STAGES * STAGE_BYTES; // a barrier for each stage, 8 bytes: its bytes have landed
    const uint32_t empty = full + 8 * STAGES;          // and one more: everyone has read it
    const int tiles_m = ceil_div(m, 128);
    const int first_row = blockIdx.x % tiles_m * 128, first_column = blockIdx.x / tiles_m * 256;
    const int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0); // the same in all lanes, and the compiler knows it
    const int steps = ceil_div(k, 64);
    const bool boxes = k % 8 == 0; // TMA wants rows of a multiple of 16 bytes

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(full + 8 * stage, boxes ? 1 : 128); // who arrives: the thread that starts the copies, or all that copy
            barrier_init(empty + 8 * stage, 2);              // one thread of each multiplying warpgroup
        }
        barrier_init_fence();
    }
    __syncthreads();

    // Given. Copies one step into a stage; `full` of this stage completes when all of it has landed.
    auto copy = [&](int step, uint32_t stage, uint32_t barrier) {
        if (boxes) { // one thread
            barrier_expect(barrier, STAGE_BYTES);
            load_box(stage, &a_map, barrier, step * 64, first_row);
            load_box(stage + TILE_BYTES, &b_map, barrier, step * 64, first_column);
        } else { // 128 threads, element by element
            copy_rows(stage, a, first_row, 128, step * 64, m, k, threadIdx.x, 128);
            copy_rows(stage + TILE_BYTES, b, first_column, 256, step * 64, n, k, threadIdx.x, 128);
            fence_async_shared();
            barrier_arrive(barrier);
        }
    };

    if (warpgroup == 0) {
        give_back_registers<40>();
        if (boxes && threadIdx.x != 0) return;
        for (int step = 0; step < steps; step++) {
            const int slot = step % STAGES, turn = step / STAGES;
            barrier_wait(empty + 8 * slot, (turn + 1) % 2); // the first turn does not wait
            copy(step, ring + slot * STAGE_BYTES, full + 8 * slot);

        }
        return;
    }

    take_registers<232>();
    float d[128]; // 64 x 256 sums, 128 for each thread
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int slot = step % STAGES, turn = step / STAGES;
        const uint32_t stage = ring + slot * STAGE_BYTES;
        barrier_wait(full + 8 * slot, turn % 2);
        wgmma_fence();
        wgmma_bf16(d, operand(stage + (warpgroup - 1) * 64 * 128), operand(stage + TILE_BYTES), step);
        wgmma_commit();
        wgmma_wait<1>(); // the step before is done
        if (step > 0 && threadIdx.x % 128 == 0) barrier_arrive(empty + 8 * ((step - 1) % STAGES));

    }
    wgmma_wait<0>();

#pragma unroll
    for (int i = 0; i < 128; i += 4) {
        const int row = first_row + (warpgroup - 1) * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        const int column = first_column + i / 4 * 8 + threadIdx.x % 4;
        store_pair(c, row, column, m, n, d[i], d[i + 1]);
        store_pair(c, row + 8, column, m, n, d[i + 2], d[i + 3]);

    }
}
