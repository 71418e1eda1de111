#include "tma.cuh"

// y = x, one box of 16 rows and 64 columns for each block, in and out by the copy engine.
// lockstep: block = 32
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 16)

extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map,
                                const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float box[16][64];
    __shared__ uint64_t full;
    if (threadIdx.x != 0) {
        return;
    }
    const uint32_t barrier = shared_address(&full);
    const int row = blockIdx.y * 16, column = blockIdx.x * 64;
    barrier_init(barrier, 1);
    barrier_init_fence();
    barrier_expect(barrier, sizeof(box));

    load_box(shared_address(box), &x_map, barrier, blockIdx.x, blockIdx.y);
    barrier_wait(barrier, 0);
    store_box(&y_map, shared_address(box), column, row);

    store_commit();
    store_wait_read<0>();
}
