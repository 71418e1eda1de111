// Takes the bytes of a word from the highest one down.
// rejected for: wrong_output
// leads to: its lowest byte comes first
#include "lab.cuh"
#include <cuda_fp16.h>
extern "C" __global__ void gather_bytes(const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x, id = ids[token];
    const float s = scale[id];
    const signed char* from = codes + (long long)id * d;
    __half* to = y + (long long)token * d;
    if (d % 4 == 0) {
        for (int q = threadIdx.x; q < d / 4; q += blockDim.x) {
            const int v = reinterpret_cast<const int*>(from)[q];
            for (int k = 0; k < 4; k++) to[4 * q + k] = __float2half(s * (signed char)(v >> (24 - 8 * k)));
        }
    } else for (int c = threadIdx.x; c < d; c += blockDim.x) to[c] = __float2half(from[c] * s);
}
