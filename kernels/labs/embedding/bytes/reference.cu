#include "lab.cuh"
#include <cuda_fp16.h>

// Eight codes a load, eight halves a store.

//@ eight
struct alignas(16) Eight {
    __half2 pair[4];
};

// Byte k of a word, as a signed number.
__device__ float code_of(int word, int k)
{
    return (signed char)(word >> (8 * k));
}

__device__ Eight decode(int2 words, float s)
{
    Eight e;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        e.pair[k] = __floats2half2_rn(code_of(words.x, 2 * k) * s, code_of(words.x, 2 * k + 1) * s);
        e.pair[k + 2] = __floats2half2_rn(code_of(words.y, 2 * k) * s, code_of(words.y, 2 * k + 1) * s);
    }
    return e;
}
//@ end

extern "C" __global__ void gather_bytes(
    const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;
    const long long id = ids[token];
    const float s = scale[id];
    if (d % 8 == 0) {
        const int2* from = reinterpret_cast<const int2*>(codes + id * d);
        Eight* to = reinterpret_cast<Eight*>(y + (long long)token * d);
#pragma unroll 4
        for (int i = threadIdx.x; i < d / 8; i += blockDim.x) {
            to[i] = decode(from[i], s);
        }
    } else {
        for (int c = threadIdx.x; c < d; c += blockDim.x) {
            y[(long long)token * d + c] = __float2half(codes[id * d + c] * s);
        }
    }
}
