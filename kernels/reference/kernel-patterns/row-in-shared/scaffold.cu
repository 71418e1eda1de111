#include "lab.cuh"

__device__ float warp_sum(float value)
{
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    return value;
}

// The sum of value over all threads of the block, for all of them. At most 1024 threads, whole warps.
__device__ float block_sum(float value)
{
    __shared__ float parts[WARP_SIZE];
    int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    value = warp_sum(value);
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / WARP_SIZE ? parts[lane] : 0.0f;
    value = warp_sum(value);
    return value;
}

// y = x / sqrt(mean of x^2 + epsilon), row by row, one block a row.
extern "C" __global__ void rms_norm(const float* x, float* y, float epsilon, int m, int n)
{
    extern __shared__ float row[];
    long long start = (long long)blockIdx.x * n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float value = x[start + i];
        // TODO: keep the value, and add its square.
        squares += value;
    }
    float total = block_sum(squares);
    // TODO: the factor of this row, and the result out of shared memory.
    float scale = total;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[start + i] = scale;
}
