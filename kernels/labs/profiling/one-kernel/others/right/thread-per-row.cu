#include "lab.cuh"

// A thread does a row alone.
// does not reach: Twice the least
// does not reach: x once
// lockstep: block = 64
// lockstep: grid = ceil_div(m, block_x)
extern "C" __global__ void layer_norm(
    const float* x, const float* weight, const float* bias, float* y, int m, int n, float epsilon)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= m) {
        return;
    }
    const float* row = x + (long long)r * n;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += row[i];
    }
    const float mean = sum / n;
    float squares = 0.0f;
    for (int i = 0; i < n; i++) {
        squares += (row[i] - mean) * (row[i] - mean);
    }
    const float root = sqrtf(squares / n + epsilon);
    for (int i = 0; i < n; i++) {
        y[(long long)r * n + i] = (row[i] - mean) / root * weight[i] + bias[i];
    }
}
