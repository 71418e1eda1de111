// The barrier is made, but nothing shows it to the copy engine.
// rejected for: barrier_phase
// leads to: fence.mbarrier_init
#include "tma.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
__device__ inline float& at(float* tile, int row, int column)
{
    return tile[row * 32 + (column / 4 ^ row % 8) * 4 + column % 4];
}

extern "C" __global__ void transpose(const float* x, float* y, const __grid_constant__ CUtensorMap x_map,
                                     const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(1024) float in[32 * 32];
    __shared__ __align__(1024) float out[32 * 32];
    __shared__ uint64_t full;
    const uint32_t barrier = shared_address(&full);
    const int row = blockIdx.y * 32, column = blockIdx.x * 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_expect(barrier, sizeof(in));
        load_box(shared_address(in), &x_map, barrier, column, row);
    }
    __syncthreads();
    barrier_wait(barrier, 0);

    for (int r = warp; r < 32; r += 8) {
        at(out, lane, r) = at(in, r, lane);
    }

    fence_async_shared();
    __syncthreads();

    if (threadIdx.x == 0) {
        store_box(&y_map, shared_address(out), row, column);
        store_commit();
        store_wait_read<0>();
    }
}
