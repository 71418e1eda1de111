#include "lab.cuh"

// Each group of 32 columns gets a scale = largest magnitude / 7 and codes = x / scale, rounded to the nearest whole number.
// Column 2j is in the low half of byte j of its row, column 2j + 1 in the high half.
// Eight lanes do a group, four columns each, with one 16-byte load and one 2-byte store where k allows, and they load PIECES
// groups before they work on the first.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n * ceil_div(k, 32), THREADS / 8 * PIECES)
#define THREADS 256
#define PIECES 4

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_int4(const float* __restrict__ x, unsigned char* __restrict__ y_codes, float* __restrict__ y_scales, int n, int k)
{
    const int groups = ceil_div(k, 32);
    const long long all = (long long)n * groups;
    const long long first = (long long)blockIdx.x * (THREADS / 8 * PIECES) + threadIdx.x / 8;
    const int part = threadIdx.x % 8 * 4;
    const bool wide = k % 4 == 0;

    float value[PIECES][4];
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        const long long group = first + p * (THREADS / 8);
        const long long row = group / groups;
        const int column = int(group - row * groups) * 32 + part;
        const int left = group < all ? k - column : 0;  // columns from here to the end of the row
        const float* from = x + row * k + column;
        if (wide && left > 0) {
            const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
            value[p][0] = four.x, value[p][1] = four.y, value[p][2] = four.z, value[p][3] = four.w;
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                value[p][i] = i < left ? from[i] : 0.0f;
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        float largest = fmaxf(fmaxf(fabsf(value[p][0]), fabsf(value[p][1])), fmaxf(fabsf(value[p][2]), fabsf(value[p][3])));
#pragma unroll
        for (int distance = 4; distance > 0; distance /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, distance));
        }
        const float scale = largest / 7.0f;
        unsigned packed = 0;
        if (scale > 0.0f) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                packed |= (unsigned(__float2int_rn(value[p][i] / scale)) & 15u) << (4 * i);
            }
        }
        const long long group = first + p * (THREADS / 8);
        const long long row = group / groups;
        const int column = int(group - row * groups) * 32 + part;
        const int left = group < all ? k - column : 0;
        if (group < all && part == 0) {
            y_scales[group] = scale;
        }
        unsigned char* to = y_codes + row * ceil_div(k, 2) + column / 2;
        if (wide && left > 0) {
            *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(packed);
        } else {
            if (left > 0) to[0] = static_cast<unsigned char>(packed);
            if (left > 2) to[1] = static_cast<unsigned char>(packed >> 8);
        }
    }
}
