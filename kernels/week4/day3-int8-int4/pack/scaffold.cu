#include "lab.cuh"

// Each group of 32 columns gets a scale = largest magnitude / 7 and codes = x / scale, rounded to the nearest whole number.
// Column 2j is in the low half of byte j of its row, column 2j + 1 in the high half. One warp does one group.
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n * ceil_div(k, 32), WARPS)
#define WARPS 4

extern "C" __global__ void quantize_int4(const float* x, unsigned char* y_codes, float* y_scales, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int groups = ceil_div(k, 32);  // in each row; the last one may be short
    const int group = blockIdx.x * WARPS + threadIdx.x / 32;
    if (group >= n * groups) {
        return;
    }
    const int row = group / groups;
    const int column = group % groups * 32 + lane;
    const float value = column < k ? x[(long long)row * k + column] : 0.0f;

    // TODO 1: the largest magnitude of the 32 lanes, in every lane
    float largest = fabsf(value);

    const float scale = largest / 7.0f;
    // TODO 2: the code, -7 to 7. What if the scale is 0?
    const int code = 0;

    if (lane == 0) {
        y_scales[group] = scale;
    }
    // TODO 3: two codes in one byte, written by one thread. How does it get its neighbor's code?
    if (column < k) {
        y_codes[(long long)row * ceil_div(k, 2) + column / 2] = code & 15;
    }
}
