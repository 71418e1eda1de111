// One thread loads, another one stores, and tells it by an mbarrier when a stage has been read.
#include "tma.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(ceil_div(columns, 64) * ceil_div(rows, 32), 8)
#define S 3
extern "C" __global__ void copy(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ __align__(128) float ring[S][2048];
    __shared__ uint64_t full[S], empty[S];
    int across = ceil_div(columns, 64), all = across * ceil_div(rows, 32), first = blockIdx.x * 8, turns = min(8, all - first);
    if (threadIdx.x == 0) {
        for (int s = 0; s < S; s++) barrier_init(shared_address(&full[s]), 1), barrier_init(shared_address(&empty[s]), 1);
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 0; t < turns; t++) {
            uint32_t bar = shared_address(&full[t % S]);
            barrier_wait(shared_address(&empty[t % S]), t / S + 1 & 1);
            barrier_expect(bar, 8192);
            load_box(shared_address(ring[t % S]), &x_map, bar, (first + t) % across * 64, (first + t) / across * 32);
        }
    } else if (threadIdx.x == 32) {
        for (int t = 0; t < turns; t++) {
            barrier_wait(shared_address(&full[t % S]), t / S & 1);
            store_box(&y_map, shared_address(ring[t % S]), (first + t) % across * 64, (first + t) / across * 32);
            store_commit();
            store_wait_read<0>();
            barrier_arrive(shared_address(&empty[t % S]));
        }
    }
}
