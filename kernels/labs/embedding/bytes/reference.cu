#include "lab.cuh"
#include <cuda_fp16.h>

// Eight codes a load, eight halves a store.

//@ eight
// Byte k of a word, as a signed number.
__device__ float code_of(int word, int k)
{
    return (signed char)(word >> (8 * k));
}

// Codes k and k + 1 of a word as two halves in one word.
__device__ unsigned two_of(int word, int k, float s)
{
    const __half2 both = __floats2half2_rn(code_of(word, k) * s, code_of(word, k + 1) * s);
    return *reinterpret_cast<const unsigned*>(&both);
}

__device__ uint4 decode(int2 words, float s)
{
    return make_uint4(two_of(words.x, 0, s), two_of(words.x, 2, s), two_of(words.y, 0, s), two_of(words.y, 2, s));
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
        uint4* to = reinterpret_cast<uint4*>(y + (long long)token * d);
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
