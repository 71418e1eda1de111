// Tells infinities by their reciprocal, and reads eight bytes a time.
#include "lab.cuh"
// lockstep: count_bad.block = 192
// lockstep: count_bad.grid = min(ceil_div(n, 192), 7)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int c[3] = {};
    auto look = [&](float v) { if (v - v != 0.0f) { if (1.0f / v == 0.0f) ++c[copysignf(1.0f, v) < 0 ? 2 : 1]; else ++c[0]; } };
    const int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    const float2* p = (const float2*)x;
    for (int i = t; i < n / 2; i += all) { float2 two = p[i]; look(two.x); look(two.y); }
    if ((n & 1) && t == all - 1) look(x[n - 1]);
    for (int k = 0; k < 3; k++) if (c[k]) atomicAdd(counts + k, c[k]);
}
