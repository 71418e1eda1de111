#include "lab.cuh"

// Copy, rung 3: VECTORS float4 on their way before the first is stored.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * VECTORS * BLOCK)
#define BLOCK 128
#define VECTORS 4

extern "C" __global__ void __launch_bounds__(BLOCK) copy(const float* __restrict__ x, float* __restrict__ y, int n)
{
    const long long first = 4 * ((long long)blockIdx.x * BLOCK * VECTORS + threadIdx.x);
    if (first + 4 * (VECTORS - 1) * BLOCK + 3 < n) {
        float4 v[VECTORS];
#pragma unroll
        for (int u = 0; u < VECTORS; u++) {
            v[u] = *reinterpret_cast<const float4*>(x + first + 4 * u * BLOCK);
        }
#pragma unroll
        for (int u = 0; u < VECTORS; u++) {
            *reinterpret_cast<float4*>(y + first + 4 * u * BLOCK) = v[u];
        }
        return;
    }
    // The last block, one element at a time.
    for (int u = 0; u < VECTORS; u++) {
        for (int e = 0; e < 4; e++) {
            const long long i = first + 4 * u * BLOCK + e;
            if (i < n) {
                y[i] = x[i];
            }
        }
    }
}
