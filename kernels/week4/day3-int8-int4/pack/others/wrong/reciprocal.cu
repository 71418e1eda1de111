// Multiplies by the reciprocal.
// rejected for: wrong_output
// leads to: rounds twice
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n * ceil_div(k, 32), 8)
extern "C" __global__ void quantize_int4(const float* x, unsigned char* q, float* s, int n, int k)
{
    int t = threadIdx.x % 16, per_row = ceil_div(k, 32);
    int g = blockIdx.x * 8 + threadIdx.x / 16;
    bool live = g < n * per_row;
    int row = live ? g / per_row : 0, c = g % per_row * 32 + 2 * t;
    float a = live && c < k ? x[(size_t)row * k + c] : 0.f, b = live && c + 1 < k ? x[(size_t)row * k + c + 1] : 0.f;
    float m = max(abs(a), abs(b));
    for (int d = 8; d; d >>= 1) m = max(m, __shfl_xor_sync(FULL_MASK, m, d));
    float scale = m / 7.f;
    if (live && t == 0) s[g] = scale;
    if (live && c < k)
        q[(size_t)row * ceil_div(k, 2) + c / 2] = scale > 0 ? (__float2int_rn(a * (1.f / scale)) & 15) | (__float2int_rn(b * (1.f / scale)) & 15) << 4 : scale > 0 ? (__float2int_rn(a / scale) & 15) | (__float2int_rn(b / scale) & 15) << 4 : 0;
}
