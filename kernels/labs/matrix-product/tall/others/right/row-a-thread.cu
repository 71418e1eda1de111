// A thread makes a whole row of 16: B from the cache, A straight from memory.
// does not reach: Each row once
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128), ceil_div(n, 16)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 16;
    if (row >= m) return;
    float s[16] = {};
    for (int d = 0; d < k; d++) {
        const float v = a[(size_t)row * k + d];
        for (int j = 0; j < 16; j++)
            if (first + j < n) s[j] += v * b[d * n + first + j];
    }
    for (int j = 0; j < 16; j++)
        if (first + j < n) c[(size_t)row * n + first + j] = s[j];
}
