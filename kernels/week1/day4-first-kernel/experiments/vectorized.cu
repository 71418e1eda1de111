#include "lab.cuh"

// Four floats in one instruction, VECTORS of them per array before the first addition: more bytes on their way for
// each thread that waits. Right for every n: what does not fill a whole float4 round is added one by one.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * VECTORS * block_x)
#define BLOCK 256
#define VECTORS 2
#define STREAM 0

__device__ float4 load(const float* from)
{
    const float4* vector = reinterpret_cast<const float4*>(from);
    return STREAM ? __ldcs(vector) : *vector;
}

__device__ void store(float* to, float4 value)
{
    float4* vector = reinterpret_cast<float4*>(to);
    if (STREAM) {
        __stcs(vector, value);
    } else {
        *vector = value;
    }
}

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int n)
{
    const long long first = 4ll * VECTORS * blockDim.x * blockIdx.x + 4ll * threadIdx.x;
    const long long round = 4ll * blockDim.x;

    if (first + (VECTORS - 1) * round + 3 < n) {
        float4 x[VECTORS], y[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            x[v] = load(a + first + v * round);
            y[v] = load(b + first + v * round);
        }
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const float4 sum = make_float4(x[v].x + y[v].x, x[v].y + y[v].y, x[v].z + y[v].z, x[v].w + y[v].w);
            store(c + first + v * round, sum);
        }
        return;
    }
    for (int v = 0; v < VECTORS; v++) {
        for (int k = 0; k < 4; k++) {
            const long long i = first + v * round + k;
            if (i < n) {
                c[i] = a[i] + b[i];
            }
        }
    }
}
