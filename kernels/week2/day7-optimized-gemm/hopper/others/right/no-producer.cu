// All 256 threads multiply, and the first one starts the copies.
// does not reach: Nine tenths
#include "hopper.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 256)
// lockstep: dynamic_shared_bytes = 4 * (49152 + 8)

extern "C" __global__ void __launch_bounds__(256, 1)
matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
       const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared), landed = ring + 4 * 49152;
    const int across = ceil_div(n, 256), row0 = blockIdx.x / across * 128, col0 = blockIdx.x % across * 256, steps = ceil_div(k, 64);
    const bool boxes = k % 8 == 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++) barrier_init(landed + 8 * s, boxes ? 1 : 256);
        barrier_init_fence();
    }
    __syncthreads();
    auto fetch = [&](int step) {
        if (step >= steps) return;
        const uint32_t stage = ring + step % 4 * 49152, bar = landed + step % 4 * 8;
        if (!boxes) {
            copy_rows(stage, a, row0, 128, step * 64, m, k, threadIdx.x, 256);
            copy_rows(stage + 16384, b, col0, 256, step * 64, n, k, threadIdx.x, 256);
            fence_async_shared();
            barrier_arrive(bar);
        } else if (threadIdx.x == 0) {
            barrier_expect(bar, 49152);
            load_box(stage, &a_map, bar, step * 64, row0);
            load_box(stage + 16384, &b_map, bar, step * 64, col0);
        }
    };
    for (int s = 0; s < 3; s++) fetch(s);
    const int half = threadIdx.x / 128;
    float d[128];
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const uint32_t stage = ring + step % 4 * 49152;
        barrier_wait(landed + step % 4 * 8, step / 4 % 2);
        wgmma_fence();
        wgmma_bf16(d, operand(stage + half * 8192), operand(stage + 16384), step);
        wgmma_commit();
        wgmma_wait<1>();
        __syncthreads();
        fetch(step + 3);
    }
    wgmma_wait<0>();
    store_slab(d, c, row0 + half * 64, col0, m, n);
}
