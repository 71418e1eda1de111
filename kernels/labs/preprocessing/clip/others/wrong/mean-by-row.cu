// Mean of the row.
// rejected for: wrong_output
// leads to: indexed by column
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 64)
extern "C" __global__ void normalize_clip(const signed char* raw, const float* mean, const float* scale, float* y, int m, int n, float low, float high)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (column >= n) return;
    const float mine = mean[threadIdx.y % n], factor = scale[column];
    for (int i = 0; i < 8; i++) {
        const int row = blockIdx.y * 64 + threadIdx.y + 8 * i;
        if (row < m) {
            float v = (raw[(size_t)row * n + column] - mine) * factor;
            if (v < low) v = low; else if (v > high) v = high;
            y[(size_t)row * n + column] = v;
        }
    }
}
