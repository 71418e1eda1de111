#include "lab.cuh"
#include <cuda_fp16.h>

// y[token] = codes[id] * scale[id], with id = ids[token]: a row of d bytes becomes a row of d halves.
extern "C" __global__ void gather_bytes(
    const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;
    const long long id = ids[token];

    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        // TODO: multiply by the row's scale, in float.
        y[(long long)token * d + c] = __float2half(codes[id * d + c]);
    }
}
