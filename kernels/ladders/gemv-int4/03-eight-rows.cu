// Against the rung before: a warp does eight rows, and the eight elements of x that a lane holds serve all of them.
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS * ROWS)
#define WARPS 4
#define ROWS 8
#define GROUP 128

extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w_codes, const half* w_scales, float* y, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
    const int groups = ceil_div(k, GROUP);
    float sum[ROWS] = {};

    for (int i = lane; i < k / 8; i += 32) {
        const uint4 eight = reinterpret_cast<const uint4*>(x)[i];
        const half* element = reinterpret_cast<const half*>(&eight);
        float value[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            value[j] = __half2float(element[j]);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (row0 + r < n) {
                const unsigned word = reinterpret_cast<const unsigned*>(w_codes + (long long)(row0 + r) * (k / 2))[i];
                float part = 0.0f;
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    part += (int(word << (28 - 4 * j)) >> 28) * value[j];
                }
                sum[r] += part * __half2float(w_scales[(long long)(row0 + r) * groups + 8 * i / GROUP]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum[r] += __shfl_down_sync(FULL_MASK, sum[r], distance);
        }
        if (lane == 0 && row0 + r < n) {
            y[row0 + r] = sum[r];
        }
    }
}
