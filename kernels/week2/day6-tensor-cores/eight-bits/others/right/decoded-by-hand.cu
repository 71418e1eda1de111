// Decodes each byte into a float and adds up one thread an element: right, and no tensor core takes part.
// does not reach: Fragments
// does not reach: A fragment used twice
#include "lab.cuh"

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 4)

__device__ float decode(uint8_t code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const float size = exponent ? ldexpf(1.0f + fraction / 8.0f, exponent - 7) : ldexpf(fraction / 8.0f, -6);
    return code & 128 ? -size : size;
}

extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int x = 0; x < k; ++x) sum = fmaf(decode(a[row * k + x]), decode(b[column * k + x]), sum);
    c[row * n + column] = sum;
}
