// Loads a box, copies it to another tile with all threads, fences, and stores that one.
#include "tma.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)
extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float4 in[512];
    __shared__ __align__(128) float4 out[512];
    __shared__ uint64_t full;
    uint32_t bar = shared_address(&full);
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(bar, sizeof(in));
        load_box(shared_address(in), &x_map, bar, blockIdx.x * 64, blockIdx.y * 32);
    }
    barrier_wait(bar, 0);
    out[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x + 256] = in[threadIdx.x + 256];
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_async_shared();
        store_box(&y_map, shared_address(out), blockIdx.x * 64, blockIdx.y * 32);
        store_commit();
        store_wait_read<0>();
    }
}
