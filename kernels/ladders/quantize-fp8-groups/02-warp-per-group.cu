// Against the rung before: one warp a group. Neighboring lanes have neighboring numbers, four a lane, which stay in registers while
// five shuffles find the largest.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row][g] = the largest magnitude of the row's columns 128 g to 128 g + 127, / 448; y_codes = the E4M3 codes of x / scale.
// A row's last group may be short. A group of zeros has scale 0 and codes 0.
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows * ceil_div(columns, 128), WARPS)
#define WARPS 8

// The E4M3 code of a float, in whole numbers: sign, 4 exponent bits, 3 fraction bits. To nearest, ties to even, 448 at most.
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned magnitude = bits & 0x7fffffff;
    unsigned code = 0x7f;  // NaN
    if (magnitude < __float_as_uint(0.015625f)) {
        // Beside 2^14 the last bit of a float counts 2^-9, the step of E4M3's subnormals.
        code = __float_as_uint(fabsf(value) + 16384.0f) - __float_as_uint(16384.0f);
    } else if (magnitude < __float_as_uint(464.0f)) {
        code = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (127 - 7) * 8;
    } else if (magnitude <= 0x7f800000) {
        code = 0x7e;
    }
    return magnitude <= 0x7f800000 ? code | bits >> 31 << 7 : code;
}

extern "C" __global__ void quantize_groups(const __half* x, unsigned char* y_codes, float* y_scales, int rows, int columns)
{
    const int groups = ceil_div(columns, 128);  // in each row
    const long long group = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    if (group >= (long long)rows * groups) {
        return;
    }
    const int lane = threadIdx.x % 32;
    const int column = int(group % groups) * 128;
    const int count = least(128, columns - column);
    const __half* from = x + group / groups * columns + column;
    unsigned char* to = y_codes + group / groups * columns + column;

    float value[4], most = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int i = lane + 32 * j;
        value[j] = i < count ? __half2float(from[i]) : 0.0f;
        most = fmaxf(most, fabsf(value[j]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    const float scale = most / 448.0f;
    if (lane == 0) {
        y_scales[group] = scale;
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int i = lane + 32 * j;
        if (i < count) {
            to[i] = scale == 0.0f ? 0 : e4m3(value[j] / scale);
        }
    }
}
