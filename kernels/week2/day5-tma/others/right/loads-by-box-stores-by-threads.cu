// Boxes come in by the engine and go out by the threads.
// does not reach: No thread moves a float
// does not reach: As fast as a copy
#include "tma.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)
extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float box[32][64];
    __shared__ uint64_t full;
    uint32_t bar = shared_address(&full);
    int r0 = blockIdx.y * 32, c0 = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        barrier_init_fence();
        barrier_expect(bar, sizeof(box));
        load_box(shared_address(box), &x_map, bar, c0, r0);
    }
    __syncthreads();
    barrier_wait(bar, 0);
    for (int i = threadIdx.x; i < 2048; i += 256)
        if (r0 + i / 64 < rows && c0 + i % 64 < columns) y[(r0 + i / 64) * columns + c0 + i % 64] = box[i / 64][i % 64];
}
