#include "lab.cuh"

// C = A * B with one thread for each element of C, as fast as that idea goes: what benchmarks compare with on this day.
// solution.cu is the plain answer. Days 6 and 7 leave the idea behind and are many times faster.
//
// The multiply-adds are the same. __restrict__ promises that C overlaps neither A nor B, so the compiler may load
// several steps ahead of the multiply-add that needs them, and unrolling gives it the steps.
// lockstep: block = 32, 8
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) {
        return;
    }
    const float* a_row = a + (size_t)row * k;
    const float* b_column = b + column;
    float sum = 0.0f;
#pragma unroll 8
    for (int i = 0; i < k; i++) {
        sum += a_row[i] * b_column[(size_t)i * n];
    }
    c[(size_t)row * n + column] = sum;
}
