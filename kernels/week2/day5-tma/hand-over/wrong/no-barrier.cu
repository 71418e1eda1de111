#include "tma.cuh"

// y = alpha * x + y, one box of 32 x 64 floats for each block: two boxes come in by the copy engine, the threads compute in
// shared memory, and one box goes out by the copy engine.
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)

extern "C" __global__ void saxpy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map,
                                 const __grid_constant__ CUtensorMap y_map, float alpha, int rows, int columns)
{
    __shared__ __align__(128) float from_x[32 * 64];
    __shared__ __align__(128) float from_y[32 * 64];
    __shared__ uint64_t full;
    const uint32_t barrier = shared_address(&full);
    const int row = blockIdx.y * 32, column = blockIdx.x * 64;

    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
        barrier_expect(barrier, sizeof(from_x) + sizeof(from_y));
        load_box(shared_address(from_x), &x_map, barrier, column, row);
        load_box(shared_address(from_y), &y_map, barrier, column, row);
    }
    __syncthreads();
    barrier_wait(barrier, 0);

    for (int i = threadIdx.x; i < 32 * 64; i += 256) {
        from_y[i] = alpha * from_x[i] + from_y[i];
    }

    fence_async_shared();

    if (threadIdx.x == 0) {
        store_box(&y_map, shared_address(from_y), column, row);
        store_commit();
        store_wait_read<0>();
    }
}
