// Elements numbered through.
// does not reach: Column values kept
#include "lab.cuh"

// y[row][column] = (raw[row][column] - mean[column]) * scale[column], but no less than low and no more than high.
// lockstep: block = 256
// lockstep: grid = ceil_div(n, block_x), min(ceil_div(m, 32), 4096)
extern "C" __global__ void normalize_clip(
    const signed char* raw, const float* mean, const float* scale, float* y, int m, int n, float low, float high)
{
    const long long count = (long long)m * n, step = (long long)gridDim.x * gridDim.y * blockDim.x;
    for (long long i = (blockIdx.y * (long long)gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const float v = (raw[i] - mean[i % n]) * scale[i % n];
        y[i] = fminf(fmaxf(v, low), high);
    }
}
