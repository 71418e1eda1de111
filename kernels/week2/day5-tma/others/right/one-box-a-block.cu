// One box for each block, no ring.
#include "tma.cuh"
// lockstep: block = 32
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)
extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float box[32 * 64];
    __shared__ uint64_t full;
    const uint32_t tile = shared_address(box), bar = shared_address(&full);
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        barrier_init_fence();
        barrier_expect(bar, 8192);
        load_box(tile, &x_map, bar, blockIdx.x * 64, blockIdx.y * 32);
        barrier_wait(bar, 0);
        store_box(&y_map, tile, blockIdx.x * 64, blockIdx.y * 32);
        store_commit();
        store_wait_read<0>();
    }
}
