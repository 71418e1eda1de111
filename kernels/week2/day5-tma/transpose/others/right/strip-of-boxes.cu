// Each block makes four boxes, one below the other, and reuses its tiles.
#include "tma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 128)
extern "C" __global__ void transpose(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(1024) float in[1024], out[1024];
    __shared__ uint64_t full;
    uint32_t bar = shared_address(&full);
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        barrier_init_fence();
    }
    __syncthreads();
    for (int t = 0; t < 4; t++) {
        int row = blockIdx.y * 128 + 32 * t, column = blockIdx.x * 32;
        if (row >= rows) break;
        if (threadIdx.x == 0) {
            store_wait_read<0>();
            barrier_expect(bar, 4096);
            load_box(shared_address(in), &x_map, bar, column, row);
        }
        barrier_wait(bar, t & 1);
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += 128) {
            int r = i / 32, c = i % 32;
            out[c * 32 + ((r / 4) ^ (c & 7)) * 4 + r % 4] = in[r * 32 + ((c / 4) ^ (r & 7)) * 4 + c % 4];
        }
        fence_async_shared();
        __syncthreads();
        if (threadIdx.x == 0) {
            store_box(&y_map, shared_address(out), row, column);
            store_commit();
        }
    }
    if (threadIdx.x == 0) store_wait_read<0>();
}
