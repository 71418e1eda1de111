// k / 128 groups in a row.
// rejected for: wrong_output
// leads to: too few
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 4 * ROWS)
#define ROWS 8
extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w, const half* s, float* y, int n, int k)
{
    int lane = threadIdx.x & 31, row0 = (blockIdx.x * 4 + threadIdx.x / 32) * ROWS;
    int groups = max(k / 128, 1);
    float acc[ROWS] = {};
    for (int i = lane; i < k / 8; i += 32) {
        uint4 v = ((const uint4*)x)[i];
        const half2* h = (const half2*)&v;
        float xs[8];
        for (int j = 0; j < 4; ++j) { float2 f = __half22float2(h[j]); xs[2 * j] = f.x; xs[2 * j + 1] = f.y; }
        for (int r = 0; r < ROWS; ++r) {
            if (row0 + r >= n) break;
            int q = ((const int*)(w + (size_t)(row0 + r) * (k / 2)))[i];
            float p = 0;
            for (int j = 0; j < 8; ++j) p += float(q << (28 - 4 * j) >> 28) * xs[j];
            acc[r] += p * __half2float(s[(size_t)(row0 + r) * groups + i / 16]);
        }
    }
    for (int r = 0; r < ROWS; ++r) {
        for (int o = 16; o; o >>= 1) acc[r] += __shfl_xor_sync(~0u, acc[r], o);
        if (lane == 0 && row0 + r < n) y[row0 + r] = acc[r];
    }
}
