// Reads the numbers as whole 16-bit words and shifts them into floats.
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, 8)
__device__ __forceinline__ float up(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const auto* qq = reinterpret_cast<const unsigned short*>(q);
    const auto* kk = reinterpret_cast<const unsigned short*>(keys);
    const int key = blockIdx.x * blockDim.y + threadIdx.y;
    if (key >= n) return;
    float s = 0.f;
    for (int i = threadIdx.x; i < d; i += warpSize) s = __fmaf_rn(up(__ldg(qq + i)), up(__ldcs(kk + size_t(key) * d + i)), s);
    for (int step = 1; step < 32; step <<= 1) s += __shfl_xor_sync(0xffffffffu, s, step);
    if (threadIdx.x == 0) scores[key] = s;
}
