// One thread a row, as on a CPU.
// does not reach: Whole sectors
// does not reach: The vector once for several rows
// does not reach: The speed of its bytes
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 64)
extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w, const half* s, float* y, int n, int k)
{
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= n) return;
    const unsigned char* p = w + (size_t)r * (k / 2);
    int ng = (k + 127) / 128;
    float total = 0;
    for (int g = 0; g < ng; ++g) {
        float part = 0;
        for (int c = g * 128; c < min(k, g * 128 + 128); c += 2) {
            int b = (signed char)p[c / 2];
            part += (float)((signed char)(b << 4) >> 4) * (float)x[c] + (float)(b >> 4) * (float)x[c + 1];
        }
        total += part * (float)s[r * ng + g];
    }
    y[r] = total;
}
