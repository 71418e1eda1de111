// Clips above only.
// rejected for: wrong_output
// leads to: Clip comes last
#include "lab.cuh"

// y[row][column] = (raw[row][column] - mean[column]) * scale[column], but no less than low and no more than high.
// lockstep: block = 256
// lockstep: grid = ceil_div(n, block_x), min(ceil_div(m, 32), 4096)
extern "C" __global__ void normalize_clip(
    const signed char* raw, const float* mean, const float* scale, float* y, int m, int n, float low, float high)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) {
        return;
    }
    const float mine = mean[column];
    const float factor = scale[column];
    for (int row = blockIdx.y; row < m; row += gridDim.y) {
        const long long i = (long long)row * n + column;
        const float v = (raw[i] - mine) * factor;
        y[i] = fminf(v, high);
    }
}
