// C = A * B^T: a ring of buffers between the copy engine and the tensor cores.
//
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 8)
//
// Against the rung before: STAGES buffers instead of one. While the tensor cores work on a stage, the next ones are on
// their way, and one group of products stays in flight, so that the tensor cores have the next work before they finish.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 128
#define STAGE_BYTES 32768
#define STAGES 3 // 96 KiB: two blocks still share a multiprocessor

extern "C" __global__ void __launch_bounds__(128)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), landed = base + STAGES * STAGE_BYTES;
    int tiles_m = ceil_div(m, TILE_M);
    int row0 = blockIdx.x % tiles_m * TILE_M, column0 = blockIdx.x / tiles_m * TILE_N;
    int steps = ceil_div(k, 64);
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(landed + 8 * s, boxes ? 1 : 128);
        barrier_init_fence();
    }
    __syncthreads();

    auto fetch = [&](int step) {
        if (step >= steps) return;
        uint32_t stage = base + step % STAGES * STAGE_BYTES, barrier = landed + step % STAGES * 8;
        if (!boxes) { // all 128 threads copy, and each arrives at the barrier
            copy_rows(stage, a, row0, TILE_M, step * 64, m, k, threadIdx.x, 128);
            copy_rows(stage + TILE_M * 128, b, column0, TILE_N, step * 64, n, k, threadIdx.x, 128);
            fence_async_shared();
            barrier_arrive(barrier);
        } else if (threadIdx.x == 0) {
            barrier_expect(barrier, STAGE_BYTES);
            load_box(stage, &a_map, barrier, step * 64, row0);
            load_box(stage + TILE_M * 128, &b_map, barrier, step * 64, column0);
        }
    };
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);

    float d[2][TILE_N / 2];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        uint32_t stage = base + step % STAGES * STAGE_BYTES;
        barrier_wait(landed + step % STAGES * 8, step / STAGES % 2);
        wgmma_fence();
        wgmma_bf16(d[0], operand(stage), operand(stage + TILE_M * 128), step);
        wgmma_bf16(d[1], operand(stage + 64 * 128), operand(stage + TILE_M * 128), step);
        wgmma_commit();
        wgmma_wait<1>(); // the products of the step before are done,
        __syncthreads(); // in all warps: their stage is free
        fetch(step + STAGES - 1);
    }
    wgmma_wait<0>();
    store_slab(d[0], c, row0, column0, m, n);
    store_slab(d[1], c, row0 + 64, column0, m, n);
}
