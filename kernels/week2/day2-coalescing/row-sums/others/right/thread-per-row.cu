// One thread a row.
// does not reach: Whole sectors
#include "lab.cuh"
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float s = 0;
        const float* p = x + (size_t)r * columns;
        for (int c = 0; c < columns; ++c) s += p[c];
        y[r] = s;
    }
}
