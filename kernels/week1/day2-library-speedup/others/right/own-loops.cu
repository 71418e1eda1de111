// No library at all.
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int e = 0; e < rows * columns; ++e) {
        const int i = e / columns, j = e % columns;
        float sum = 0;
        for (int p = 0; p < inner; ++p) sum = fmaf(a[i * inner + p], __ldg(b + p * columns + j), sum);
        c[e] = sum;
    }
}
