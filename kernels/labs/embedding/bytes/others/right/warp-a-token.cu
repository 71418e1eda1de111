// A warp for each token.
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: grid = ceil_div(tokens, 4)
// lockstep: block = 128
extern "C" __global__ void gather_bytes(const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int lane = threadIdx.x & 31, token = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (token >= tokens) return;
    const size_t id = ids[token];
    const signed char* row = codes + id * d;
    __half* out = y + (size_t)token * d;
    const float s = __ldg(scale + id);
    for (int c = lane; c < d; c += 32) out[c] = __float2half(s * row[c]);
}
