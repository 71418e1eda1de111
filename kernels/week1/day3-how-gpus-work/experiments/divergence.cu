#include "lab.cuh"

// Adds two vectors, after some work that changes nothing. The work is the same on each of the PATHS ways of the switch,
// but it stands there once for each: lanes on different ways cannot do it together.
#define PATHS 2
#define BY_WARP 0
#define ROUNDS 64

// As long as n is positive, multiplies by one; the compiler cannot know that, so it must do the work.
template <int WAY>
__device__ float work(float value, int n)
{
    const float one = n > 0 ? 1.0f : 2.0f + WAY;
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
        value *= one;
    }
    return value;
}

// A way for each number below PATHS; the compiler makes a chain of branches of it.
template <int WAY>
__device__ float choose(int way, float value, int n)
{
    if constexpr (WAY + 1 < PATHS) {
        if (way != WAY) {
            return choose<WAY + 1>(way, value, n);
        }
    }
    return work<WAY>(value, n);
}

extern "C" __global__ void ways(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    //@ way
    const int way = (BY_WARP ? threadIdx.x / 32 : threadIdx.x) % PATHS;
    //@ end
    if (i < n) {
        c[i] = choose<0>(way, a[i] + b[i], n);
    }
}
