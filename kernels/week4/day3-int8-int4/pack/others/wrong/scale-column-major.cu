// Scales as [groups][n].
// rejected for: wrong_output
// leads to: in each row
#include "lab.cuh"

// lockstep: block = 8, 16
// lockstep: grid = ceil_div(k, 32), ceil_div(n, 16)
// Eight lanes a group, four columns each.
extern "C" __global__ void quantize_int4(const float* x, unsigned char* y_codes, float* y_scales, int n, int k)
{
    const int row = blockIdx.y * 16 + threadIdx.y, g = blockIdx.x;
    const bool inside = row < n;
    const int c = 32 * g + 4 * threadIdx.x;
    float v[4];
    float most = 0;
    for (int j = 0; j < 4; j++) {
        v[j] = inside && c + j < k ? x[(long long)row * k + c + j] : 0.0f;
        most = fmaxf(most, fabsf(v[j]));
    }
    for (int d = 4; d > 0; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, d, 8));
    const float s = most / 7.0f;
    if (!inside) return;
    if (threadIdx.x == 0) y_scales[(long long)g * n + row] = s;
    for (int j = 0; j < 4; j += 2) {
        if (c + j < k) {
            const unsigned a = s > 0 ? __float2int_rn(v[j] / s) : 0, b = s > 0 ? __float2int_rn(v[j + 1] / s) : 0;
            y_codes[(long long)row * ((k + 1) >> 1) + (c + j) / 2] = (a & 15) | (b & 15) << 4;
        }
    }
}
