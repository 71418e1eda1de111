// C = A * B^T: one warpgroup copies, two multiply.
//
// lockstep: block = 384
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 256)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 16)
//
// Against the rung before: the copies have a warpgroup of their own, which needs hardly any registers and gives them to
// the others. Each buffer has two barriers, `full` (bytes have landed) and `empty` (both warpgroups have read them), so
// nobody waits for the whole block any more, and one warpgroup may run ahead of the other.
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
    int tiles_m = ceil_div(m, TILE_M);
    int row0 = blockIdx.x % tiles_m * TILE_M, column0 = blockIdx.x / tiles_m * TILE_N;
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, 64);
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full + 8 * s, boxes ? 1 : 128);
            barrier_init(empty + 8 * s, 2); // one arrival from each multiplying warpgroup
        }
        barrier_init_fence();
    }
    __syncthreads();

    if (warpgroup == 0) {
        give_back_registers<40>();
        if (boxes && threadIdx.x != 0) return; // the copy engine needs one thread
        int slot = 0, parity = 1;              // waiting for the phase before the first does not wait
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
    } else {
        take_registers<232>();
        float d[TILE_N / 2];
        int slot = 0, parity = 0;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            uint32_t stage = base + slot * STAGE_BYTES;
            barrier_wait(full + 8 * slot, parity);
            wgmma_fence();
            wgmma_bf16(d, operand(stage + (warpgroup - 1) * 64 * 128), operand(stage + TILE_M * 128), step);
            wgmma_commit();
            wgmma_wait<1>();
            // The step before is done: its stage may be filled again.
            if (step && threadIdx.x % 128 == 0) barrier_arrive(empty + 8 * (slot ? slot - 1 : STAGES - 1));
            if (++slot == STAGES) slot = 0, parity ^= 1;
        }
        wgmma_wait<0>();
        store_slab(d, c, row0 + (warpgroup - 1) * 64, column0, m, n);
    }
}
