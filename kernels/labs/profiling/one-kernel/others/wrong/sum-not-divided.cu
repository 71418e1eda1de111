// The sum for the mean.
// rejected for: wrong_output
// leads to: divided by n
#include "lab.cuh"
// lockstep: block = 32, 4
// lockstep: grid = ceil_div(m, 4)
// A warp a row: a sum and a sum of squared distances, by shuffles.
__device__ float all_lanes(float v)
{
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}
extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ y, int m, int n, float epsilon)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= m) return;
    const float* from = x + (size_t)row * n;
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += from[i];
    const float mean = all_lanes(s);
    float q = 0;
    for (int i = threadIdx.x; i < n; i += 32) { const float d = from[i] - mean; q += d * d; }
    const float factor = 1.0f / sqrtf(all_lanes(q) / n + epsilon);
    for (int i = threadIdx.x; i < n; i += 32) y[(size_t)row * n + i] = (from[i] - mean) * factor * weight[i] + bias[i];
}
