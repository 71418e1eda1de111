// Four codes at once, as a char4.
#include "lab.cuh"
#include <cuda_fp16.h>
extern "C" __global__ void gather_bytes(const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;
    const long long id = ids[token];
    const float s = scale[id];
    const signed char* from = codes + id * d;
    __half* to = y + (long long)token * d;
    if (d % 4 == 0) {
        const char4* words = reinterpret_cast<const char4*>(from);
        __half2* pairs = reinterpret_cast<__half2*>(to);
        for (int q = threadIdx.x; q < d / 4; q += blockDim.x) {
            const char4 v = words[q];
            pairs[2 * q] = __floats2half2_rn(v.x * s, v.y * s);
            pairs[2 * q + 1] = __floats2half2_rn(v.z * s, v.w * s);
        }
    } else {
        for (int c = threadIdx.x; c < d; c += blockDim.x) to[c] = __float2half(from[c] * s);
    }
}
