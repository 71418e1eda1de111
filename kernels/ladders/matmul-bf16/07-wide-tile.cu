// C = A * B^T: a larger tile for two warpgroups.
//
// lockstep: block = 256
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 256)
// lockstep: dynamic_shared_bytes = STAGES * (STAGE_BYTES + 8)
//
// Against the rung before: a block makes 128 x 256, each of its two warpgroups 64 x 256. A wgmma of N = 256 reads 64 +
// 256 rows of shared memory for 64 * 256 sums where two of N = 128 read 2 * (64 + 128), and from L2 comes a quarter
// less per product. One block fills a multiprocessor: the two warpgroups now hide each other's waits.
#include "hopper.cuh"

#define TILE_M 128
#define TILE_N 256
#define STAGE_BYTES 49152
#define STAGES 4 // 192 KiB of the 227 that a block can have

extern "C" __global__ void __launch_bounds__(256, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const uint16_t* a, const uint16_t* b,
       uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared), landed = base + STAGES * STAGE_BYTES;
    int tiles_m = ceil_div(m, TILE_M);
    int row0 = blockIdx.x % tiles_m * TILE_M, column0 = blockIdx.x / tiles_m * TILE_N;
    // The same for all lanes of a warp: saying so keeps the addresses of operands in the warp's own (uniform)
    // registers.
    int warpgroup = __shfl_sync(FULL_MASK, threadIdx.x / 128, 0);
    int steps = ceil_div(k, 64);
    bool boxes = k % 8 == 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(landed + 8 * s, boxes ? 1 : 256);
        barrier_init_fence();
    }
    __syncthreads();

    auto fetch = [&](int step) {
        if (step >= steps) return;
        uint32_t stage = base + step % STAGES * STAGE_BYTES, barrier = landed + step % STAGES * 8;
        if (!boxes) {
            copy_rows(stage, a, row0, TILE_M, step * 64, m, k, threadIdx.x, 256);
            copy_rows(stage + TILE_M * 128, b, column0, TILE_N, step * 64, n, k, threadIdx.x, 256);
            fence_async_shared();
            barrier_arrive(barrier);
        } else if (threadIdx.x == 0) {
            barrier_expect(barrier, STAGE_BYTES);
            load_box(stage, &a_map, barrier, step * 64, row0);
            load_box(stage + TILE_M * 128, &b_map, barrier, step * 64, column0);
        }
    };
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);

    float d[TILE_N / 2];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        uint32_t stage = base + step % STAGES * STAGE_BYTES;
        barrier_wait(landed + step % STAGES * 8, step / STAGES % 2);
        wgmma_fence();
        wgmma_bf16(d, operand(stage + warpgroup * 64 * 128), operand(stage + TILE_M * 128), step);
        wgmma_commit();
        wgmma_wait<1>();
        __syncthreads();
        fetch(step + STAGES - 1);
    }
    wgmma_wait<0>();
    store_slab(d, c, row0 + warpgroup * 64, column0, m, n);
}
