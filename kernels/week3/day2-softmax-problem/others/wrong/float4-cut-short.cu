// A float4 is loaded wherever its first element exists.
// rejected for: wide_access
// leads to: may be cut short
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 1024)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int g = blockIdx.x * 256 + threadIdx.x;
    if (4 * g < n) {
        const float4 q = ((const float4*)x)[g];
        const float a[4] = {q.x, q.y, q.z, q.w};
        for (int j = 0; j < 4; j++) { const float v = a[j]; if (isnan(v)) atomicAdd(&counts[0], 1); else if (isinf(v)) atomicAdd(&counts[v > 0 ? 1 : 2], 1); }
    }
}
