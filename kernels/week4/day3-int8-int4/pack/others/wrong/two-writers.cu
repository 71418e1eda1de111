// Each lane stores its own half.
// rejected for: race
// leads to: cannot write half a byte
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

    float largest = fabsf(value);
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, distance));
    }

    const float scale = largest / 7.0f;
    const int code = scale > 0.0f ? __float2int_rn(value / scale) : 0;

    if (lane == 0) {
        y_scales[group] = scale;
    }
    // The even lane stores both. A column that does not exist has value 0, so its code is 0.
    const int next = __shfl_down_sync(FULL_MASK, code, 1);
    if (column < k) {
        y_codes[(long long)row * ceil_div(k, 2) + column / 2] = lane % 2 ? (code & 15) << 4 : (code & 15) | (next & 15) << 4;
    }
}
