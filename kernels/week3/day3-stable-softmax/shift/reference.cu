#include "lab.cuh"

// Each row of y = softmax of the row of x. One thread does one row.
extern "C" __global__ void softmax_rows(const float* x, float* y, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* from = x + (long long)row * columns;
    float* to = y + (long long)row * columns;
    float sum = 0.0f;

    float most = -INFINITY;
    for (int i = 0; i < columns; i++) {
        most = fmaxf(most, from[i]);
    }
    for (int i = 0; i < columns; i++) {
        sum += expf(from[i] - most);
    }
    for (int i = 0; i < columns; i++) {
        to[i] = expf(from[i] - most) / sum;
    }
}
