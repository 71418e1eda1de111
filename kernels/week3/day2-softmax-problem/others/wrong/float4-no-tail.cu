// Vectors of four, and no tail.
// rejected for: wrong_output
// leads to: tail
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, 4 * THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 four = reinterpret_cast<const float4*>(x)[i];
        float all[4] = {four.x, four.y, four.z, four.w};
        for (int c = 0; c < 4; c++) {
            if (isnan(all[c])) atomicAdd(&counts[0], 1);
            else if (isinf(all[c])) atomicAdd(&counts[all[c] > 0 ? 1 : 2], 1);
        }
    }
}
