// One thread an element of C and ordinary multiply-adds: right, and far from a tensor core.
// does not reach: Fragments
// does not reach: A fragment used twice
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 16)

__device__ float widen(uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int x = 0; x < k; x++) sum += widen(a[row * k + x]) * widen(b[column * k + x]);
    c[row * n + column] = sum;
}
