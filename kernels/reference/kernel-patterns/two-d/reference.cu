#include "lab.cuh"

// y = (x - mean) / deviation, where each column has a mean and a deviation of its own.
extern "C" __global__ void normalise(
    const float* x, const float* mean, const float* deviation, float* y, int m, int n)
{
    //@ index
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        int i = row * n + column;
        y[i] = (x[i] - mean[column]) / deviation[column];
    }
    //@ end
}
