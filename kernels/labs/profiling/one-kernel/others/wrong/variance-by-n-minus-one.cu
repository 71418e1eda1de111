// Divides the squares by n - 1.
// rejected for: wrong_output
// leads to: The variance is the mean of (x - mean)^2
#include "lab.cuh"

// The sum of `value` over all threads of the block, in every thread.
__device__ float block_sum(float value)
{
    __shared__ float part[8];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; warp++) {
        sum += part[warp];
    }
    __syncthreads();  // nobody writes the next sum before all have read this one
    return sum;
}

extern "C" __global__ void layer_norm(
    const float* x, const float* weight, const float* bias, float* y, int m, int n, float epsilon)
{
    const float* row = x + (long long)blockIdx.x * n;
    float* to = y + (long long)blockIdx.x * n;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += row[i];
    }
    const float mean = block_sum(sum) / n;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        squares += (row[i] - mean) * (row[i] - mean);
    }
    const float variance = block_sum(squares) / (n - 1);

    const float factor = rsqrtf(variance + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        to[i] = (row[i] - mean) * factor * weight[i] + bias[i];
    }
}
