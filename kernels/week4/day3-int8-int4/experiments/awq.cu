#include "lab.cuh"

// y = W * x, with W rounded to INT4 in groups of 128. Before rounding, column j is multiplied by |x[j]|^(POWER / 100), and
// divided by it afterwards. One warp does one row. k is a multiple of 128.
#define POWER 0

extern "C" __global__ void gemv_awq(const float* x, const float* w, float* y, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= n) {
        return;
    }
    float sum = 0.0f;
    for (int group = 0; group < k; group += 128) {
        float factor[4], scaled[4], largest = 0.0f;
        for (int i = 0; i < 4; i++) {
            const int column = group + lane + 32 * i;
            //@ factor
            factor[i] = powf(fmaxf(fabsf(x[column]), 0.01f), POWER / 100.0f);
            scaled[i] = w[(long long)row * k + column] * factor[i];
            //@ end
            largest = fmaxf(largest, fabsf(scaled[i]));
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, distance));
        }
        const float scale = largest / 7.0f;
        for (int i = 0; i < 4; i++) {
            const float rounded = rintf(scaled[i] / scale) * scale;
            sum += rounded / factor[i] * x[group + lane + 32 * i];
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
