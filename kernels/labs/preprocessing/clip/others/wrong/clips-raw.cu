// Clips the raw value.
// rejected for: wrong_output
// leads to: Clip comes last
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 64)
extern "C" __global__ void normalize_clip(const signed char* raw, const float* mean, const float* scale, float* y, int m, int n, float low, float high)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (column >= n) return;
    const float mine = mean[column], factor = scale[column];
    for (int i = 0; i < 8; i++) {
        const int row = blockIdx.y * 64 + threadIdx.y + 8 * i;
        if (row < m) {
            float v = raw[(size_t)row * n + column];
            if (v < low) v = low; else if (v > high) v = high;
            v = (v - mine) * factor;
            y[(size_t)row * n + column] = v;
        }
    }
}
