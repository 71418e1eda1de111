// A fixed grid that loops over float4.
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = 32
#define THREADS 256

__device__ void look(float v, int* found)
{
    if (isnan(v)) found[0]++;
    else if (v == INFINITY) found[1]++;
    else if (v == -INFINITY) found[2]++;
}

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int found[3] = {0, 0, 0};
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n / 4; i += threads) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        look(v.x, found);
        look(v.y, found);
        look(v.z, found);
        look(v.w, found);
    }
    for (int i = n / 4 * 4 + thread; i < n; i += threads) look(x[i], found);
    for (int c = 0; c < 3; c++) {
        int all = __reduce_add_sync(FULL_MASK, found[c]);
        if (threadIdx.x % 32 == 0 && all) atomicAdd(&counts[c], all);
    }
}
