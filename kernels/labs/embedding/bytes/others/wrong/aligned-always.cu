// Believes that every row starts at a multiple of four bytes.
// rejected for: misaligned
// leads to: multiple of
#include "lab.cuh"
#include <cuda_fp16.h>
extern "C" __global__ void gather_bytes(const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x, id = ids[token];
    const float s = scale[id];
    const char4* from = reinterpret_cast<const char4*>(codes + (long long)id * d);
    __half* to = y + (long long)token * d;
    for (int q = threadIdx.x; q < d / 4; q += blockDim.x) {
        const char4 v = from[q];
        to[4 * q] = __float2half(v.x * s); to[4 * q + 1] = __float2half(v.y * s);
        to[4 * q + 2] = __float2half(v.z * s); to[4 * q + 3] = __float2half(v.w * s);
    }
    for (int c = d / 4 * 4 + threadIdx.x; c < d; c += blockDim.x) to[c] = __float2half(codes[(long long)id * d + c] * s);
}
