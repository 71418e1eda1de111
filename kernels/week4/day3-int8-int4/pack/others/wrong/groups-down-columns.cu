// Looks for the largest magnitude down a column of 32 rows.
// rejected for: wrong_output
// leads to: this group only
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(n * ceil_div(k, 32), 64)
extern "C" __global__ void quantize_int4(const float* x, unsigned char* q, float* s, int n, int k)
{
    int g = blockIdx.x * 64 + threadIdx.x, per_row = (k + 31) / 32;
    if (g >= n * per_row) return;
    int row = g / per_row, c0 = g % per_row * 32, c1 = min(k, c0 + 32);
    const float* p = x + (size_t)row * k;
    float m = 0;
    for (int r = row / 32 * 32; r < min(n, row / 32 * 32 + 32); ++r) m = fmaxf(m, fabsf(x[(size_t)r * k + c0]));
    float scale = m / 7;
    s[g] = scale;
    for (int c = c0; c < c1; c += 2) {
        int a = 0, b = 0;
        if (scale != 0) {
            a = (int)rintf(p[c] / scale);
            if (c + 1 < c1) b = (int)rintf(p[c + 1] / scale);
        }
        q[(size_t)row * ((k + 1) / 2) + c / 2] = (unsigned char)(b << 4 | (a & 15));
    }
}
