// Three counts in one word, ten bits each, four floats a thread.
#include "lab.cuh"
// lockstep: count_bad.block = 64, 4
// lockstep: count_bad.grid = ceil_div(n, 4 * 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    const int g = blockIdx.x * 256 + t;
    float4 v = make_float4(0, 0, 0, 0);
    if (4 * g + 3 < n) {
        v = ((const float4*)x)[g];
    } else {
        if (4 * g < n) v.x = x[4 * g];
        if (4 * g + 1 < n) v.y = x[4 * g + 1];
        if (4 * g + 2 < n) v.z = x[4 * g + 2];
    }
    int packed = 0;
    const float a[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (float e : a) packed += isnan(e) ? 1 : !isinf(e) ? 0 : signbit(e) ? 1 << 20 : 1 << 10;
    for (int o = 16; o; o >>= 1) packed += __shfl_xor_sync(FULL_MASK, packed, o);
    if (t % 32 == 0 && packed) {
        atomicAdd(counts + 0, packed & 1023);
        atomicAdd(counts + 1, packed >> 10 & 1023);
        atomicAdd(counts + 2, packed >> 20);
    }
}
