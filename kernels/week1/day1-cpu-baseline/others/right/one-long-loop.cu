// A single loop over all products.
// does not reach: Two loads for each step
// does not reach: A sum in a register
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int e = 0; e < rows * columns; e++) {
        c[e] = 0.0f;
    }
    for (long long p = 0; p < (long long)rows * columns * inner; p++) {
        const int k = p % inner, e = p / inner;
        c[e] = fmaf(a[e / columns * inner + k], b[k * columns + e % columns], c[e]);
    }
}
