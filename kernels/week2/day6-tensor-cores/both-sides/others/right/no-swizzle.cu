// Without the swizzle: right, and the lanes that walk down a column share a bank.
// does not reach: Without a conflict
#include "mma.cuh"

extern "C" __global__ void both_sides(const float* x, float* y)
{
    __shared__ __align__(128) float4 tile[64];
    const float4* from = reinterpret_cast<const float4*>(x) + blockIdx.x * 64;
    float4* to = reinterpret_cast<float4*>(y) + blockIdx.x * 64;

    for (int i = threadIdx.x; i < 64; i += 32) {
        tile[i] = from[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32) {
        const int place = i % 8 * 8 + i / 8;
        to[place] = tile[place];
    }
}
