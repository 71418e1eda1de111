// Against the rung before: eight lanes a group with four columns each, one load of 16 bytes and one store of 2.
#include "lab.cuh"

// Each group of 32 columns gets a scale = largest magnitude / 7 and codes = x / scale, rounded to the nearest whole number.
// Column 2j is in the low half of byte j of its row, column 2j + 1 in the high half.
// Eight lanes do one group, four columns each, with one 16-byte load and one 2-byte store where k allows.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n * ceil_div(k, 32), THREADS / 8)
#define THREADS 256

extern "C" __global__ void quantize_int4(const float* __restrict__ x, unsigned char* __restrict__ y_codes,
                                         float* __restrict__ y_scales, int n, int k)
{
    const int groups = ceil_div(k, 32);
    const long long group = (long long)blockIdx.x * (THREADS / 8) + threadIdx.x / 8;
    const bool there = group < (long long)n * groups;  // all 32 lanes stay for the shuffles
    const long long row = there ? group / groups : 0;
    const int column = int(group % groups) * 32 + threadIdx.x % 8 * 4;
    const float* from = x + row * k + column;

    float value[4];
    if (there && k % 4 == 0 && column < k) {
        const float4 four = *reinterpret_cast<const float4*>(from);
        value[0] = four.x, value[1] = four.y, value[2] = four.z, value[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            value[i] = there && column + i < k ? from[i] : 0.0f;
        }
    }
    float largest = fmaxf(fmaxf(fabsf(value[0]), fabsf(value[1])), fmaxf(fabsf(value[2]), fabsf(value[3])));
#pragma unroll
    for (int distance = 4; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, distance));
    }
    if (!there) {
        return;
    }
    const float scale = largest / 7.0f;
    unsigned packed = 0;
    if (scale > 0.0f) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            packed |= (unsigned(__float2int_rn(value[i] / scale)) & 15u) << (4 * i);
        }
    }
    if (threadIdx.x % 8 == 0) {
        y_scales[group] = scale;
    }
    unsigned char* to = y_codes + row * ceil_div(k, 2) + column / 2;
    if (k % 4 == 0 && column < k) {
        *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(packed);
    } else {
        if (column < k) to[0] = static_cast<unsigned char>(packed);
        if (column + 2 < k) to[1] = static_cast<unsigned char>(packed >> 8);
    }
}
