
#include "lab.cuh"
#include <cuda_fp16.h>

// Copies rows of d halves, one block a row: 16 bytes at a time where that is allowed.
extern "C" __global__ void copy_rows(const __half* x, __half* y, int rows, int d)
{
    const __half* from = x + (long long)blockIdx.x * d;
    __half* to = y + (long long)blockIdx.x * d;

    if (d >= 8) {
        for (int i = threadIdx.x; i < d / 8; i += blockDim.x) {
            reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
        }
    } else {
        for (int c = threadIdx.x; c < d; c += blockDim.x) {
            to[c] = from[c];
        }
    }
}
