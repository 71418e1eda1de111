#include "lab.cuh"
#include <cuda_fp16.h>

// One code a thread.
// does not reach: Eight codes a load
extern "C" __global__ void gather_bytes(
    const signed char* codes, const float* scale, const int* ids, __half* y, int tokens, int d)
{
    const int id = ids[blockIdx.x];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[(size_t)blockIdx.x * d + c] = __float2half_rn(scale[id] * (float)codes[(size_t)id * d + c]);
    }
}
