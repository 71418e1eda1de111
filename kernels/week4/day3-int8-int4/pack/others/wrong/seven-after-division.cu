// x / largest * 7.
// rejected for: wrong_output
// leads to: rounds twice
#include "lab.cuh"

#define WARPS 4
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n * ceil_div(k, 32), WARPS)
extern "C" __global__ void quantize_int4(const float* x, unsigned char* y_codes, float* y_scales, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int groups = ceil_div(k, 32);
    const int group = blockIdx.x * WARPS + threadIdx.x / 32;
    if (group >= n * groups) return;
    const int row = group / groups;
    const int column = group % groups * 32 + lane;
    const float value = column < k ? x[(long long)row * k + column] : 0.0f;
    float largest = fabsf(value);
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, d));
    const float scale = largest / 7.0f;
    const int code = scale > 0.0f ? __float2int_rn(value / largest * 7.0f) : 0;
    const int next = __shfl_down_sync(FULL_MASK, code, 1);
    if (lane == 0) y_scales[group] = scale;
    if (lane % 2 == 0 && column < k) y_codes[(long long)row * ceil_div(k, 2) + column / 2] = (code & 15) | (next & 15) << 4;
}
