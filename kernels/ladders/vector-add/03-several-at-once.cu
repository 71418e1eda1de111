#include "lab.cuh"

// Vector addition, rung 3: VECTORS float4 of each array on their way before the first addition.
//
// The loads are independent, so a thread that asks for all of them waits once. The rounds lie BLOCK float4 apart: in
// each of them neighbouring threads touch neighbouring memory. Small blocks, because the end of the grid then idles
// least.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * VECTORS * BLOCK)
#define BLOCK 128
#define VECTORS 2

extern "C" __global__ void __launch_bounds__(BLOCK)
    vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    const long long first = 4 * ((long long)blockIdx.x * BLOCK * VECTORS + threadIdx.x);
    if (first + 4 * (VECTORS - 1) * BLOCK + 3 < n) {
        float4 x[VECTORS], y[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            x[v] = *reinterpret_cast<const float4*>(a + first + 4 * v * BLOCK);
            y[v] = *reinterpret_cast<const float4*>(b + first + 4 * v * BLOCK);
        }
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            *reinterpret_cast<float4*>(c + first + 4 * v * BLOCK) =
                make_float4(x[v].x + y[v].x, x[v].y + y[v].y, x[v].z + y[v].z, x[v].w + y[v].w);
        }
        return;
    }
    // The last block, one element at a time.
    for (int v = 0; v < VECTORS; v++) {
        for (int e = 0; e < 4; e++) {
            const long long i = first + 4 * v * BLOCK + e;
            if (i < n) {
                c[i] = a[i] + b[i];
            }
        }
    }
}
