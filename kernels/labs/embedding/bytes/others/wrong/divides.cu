// Divides by the scale.
// rejected for: wrong_output
// leads to: it multiplies
#include "lab.cuh"
#include <cuda_fp16.h>
extern "C" __global__ void gather_bytes(const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;
    const long long id = ids[token];
    const float s = scale[id];
    for (int c = threadIdx.x; c < d; c += blockDim.x)
        y[(long long)token * d + c] = __float2half(codes[id * d + c] / s);
}
