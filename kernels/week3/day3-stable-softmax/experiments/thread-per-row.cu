#include "lab.cuh"

// Stable softmax, one thread a row.
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const float* from = x + (long long)row * columns;
        float* to = y + (long long)row * columns;
        //@ passes
        float most = -INFINITY;
        for (int i = 0; i < columns; i++) {
            most = fmaxf(most, from[i]);          // pass 1: the maximum
        }
        float sum = 0.0f;
        for (int i = 0; i < columns; i++) {
            sum += expf(from[i] - most);          // pass 2: the sum
        }
        for (int i = 0; i < columns; i++) {
            to[i] = expf(from[i] - most) / sum;   // pass 3: the weights
        }
        //@ end
        lse[row] = most + logf(sum);
    }
}
