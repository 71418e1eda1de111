#include "lab.cuh"

// 32 bits that look random, another number for each seed and element (the finisher of MurmurHash3, twice).
__device__ unsigned hash(unsigned seed, unsigned i)
{
    unsigned h = i * 0x9e3779b9u + seed;
    for (int round = 0; round < 2; round++) {
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        h = h ^ h >> 16;
        h += seed;
    }
    return h;
}

// codes[i] = x[i] / scale[0], rounded up or down at random so that the mean over many seeds is right.
extern "C" __global__ void stochastic(const float* x, const float* scale, signed char* codes, unsigned seed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float u = hash(seed, 0) * 0x1p-32f;  // from 0 to 1
        codes[i] = (int)floorf(x[i] / scale[0] + u);
    }
}
