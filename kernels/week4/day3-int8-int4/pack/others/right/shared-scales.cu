// Magnitudes through shared memory, one block for four groups.
// does not reach: Wide and packed
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n * ceil_div(k, 32), 4)
extern "C" __global__ void quantize_int4(const float* x, unsigned char* y_codes, float* y_scales, int n, int k)
{
    __shared__ float mag[128];
    __shared__ signed char code[128];
    const int t = threadIdx.x, per_row = ceil_div(k, 32);
    const int group = blockIdx.x * 4 + t / 32;
    const int row = group / per_row, column = group % per_row * 32 + t % 32;
    const bool mine = row < n && column < k;
    const float v = mine ? x[(long long)row * k + column] : 0.0f;
    mag[t] = fabsf(v);
    __syncthreads();
    for (int half = 16; half; half /= 2) {
        if (t % 32 < half) mag[t] = fmaxf(mag[t], mag[t + half]);
        __syncthreads();
    }
    const float scale = __fdiv_rn(mag[t / 32 * 32], 7.0f);
    code[t] = scale == 0.0f ? 0 : (signed char)rintf(__fdiv_rn(v, scale));
    __syncthreads();
    if (row < n && t % 32 == 0) y_scales[group] = scale;
    if (mine && t % 2 == 0) y_codes[(long long)row * ceil_div(k, 2) + column / 2] = (unsigned char)((code[t] & 15) + 16 * (code[t + 1] & 15));
}
