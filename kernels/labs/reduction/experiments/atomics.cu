#include "lab.cuh"

// The same sum with one atomic addition for PER elements: 1 (every thread), 32 (every warp) or 256 (every block).
#define PER 1

// The old value is looked at, because the table of counters lists atomic operations that return something.
__device__ void add(float* y, float value)
{
    if (isnan(atomicAdd(y, value))) {
        __trap();
    }
}

extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float block_total;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
#if PER == 1
    add(y, value);
#else
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(FULL_MASK, value, distance);
    }
#if PER == 32
    if (threadIdx.x % 32 == 0) {
        add(y, value);
    }
#else
    if (threadIdx.x == 0) {
        block_total = 0.0f;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&block_total, value);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        add(y, block_total);
    }
#endif
#endif
}
