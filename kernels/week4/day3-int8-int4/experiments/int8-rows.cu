#include "lab.cuh"
#include <cuda_fp16.h>

// y = W * x with weights of one byte and a scale for each row. A warp does ROWS rows. k is a multiple of 8.
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 4 * ROWS)
#define ROWS 1

extern "C" __global__ void gemv_int8(const half* x, const signed char* w_codes, const float* w_scales, float* y, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int row0 = (blockIdx.x * 4 + threadIdx.x / 32) * ROWS;
    float sum[ROWS] = {};
    //@ rows
    for (int i = lane; i < k / 8; i += 32) {
        const uint4 eight = reinterpret_cast<const uint4*>(x)[i];  // 8 elements of x: 16 bytes
        const half* element = reinterpret_cast<const half*>(&eight);
        for (int r = 0; r < ROWS; r++) {
            if (row0 + r < n) {
                const signed char* row = w_codes + (long long)(row0 + r) * k;
                const uint2 codes = reinterpret_cast<const uint2*>(row)[i];  // 8 weights: 8 bytes
                const signed char* code = reinterpret_cast<const signed char*>(&codes);
                for (int j = 0; j < 8; j++) {
                    sum[r] += code[j] * __half2float(element[j]);
                }
            }
        }
    }
    //@ end
    for (int r = 0; r < ROWS; r++) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum[r] += __shfl_down_sync(FULL_MASK, sum[r], distance);
        }
        if (lane == 0 && row0 + r < n) {
            y[row0 + r] = sum[r] * w_scales[row0 + r];
        }
    }
}
