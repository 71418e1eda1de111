// Looks at x, y and z of each four.
// rejected for: wrong_output
// leads to: all four of x, y, z and w
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 1024)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int g = blockIdx.x * 256 + threadIdx.x;
    if (4 * g + 3 < n) {
        const float4 q = ((const float4*)x)[g];
        const float a[3] = {q.x, q.y, q.z};
        for (int j = 0; j < 3; j++) { const float v = a[j]; if (isnan(v)) atomicAdd(&counts[0], 1); else if (isinf(v)) atomicAdd(&counts[v > 0 ? 1 : 2], 1); }
    }
    if (g == 0)
        for (int i = n / 4 * 4; i < n; i++) { const float v = x[i]; if (isnan(v)) atomicAdd(&counts[0], 1); else if (isinf(v)) atomicAdd(&counts[v > 0 ? 1 : 2], 1); }
}
