#include "lab.cuh"
#include <cuda_fp16.h>

// A row of the table for each token, 16 bytes a load and four loads of a thread in flight.
// lockstep: block = 128
// lockstep: grid = tokens

//@ wide
// All threads of a block copy one row of `chunks` pieces of 16 bytes.
__device__ void copy_chunks(const uint4* from, uint4* to, int chunks)
{
    int i = threadIdx.x;
    for (; i + 3 * blockDim.x < chunks; i += 4 * blockDim.x) {
        uint4 held[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            held[k] = from[i + k * blockDim.x];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            to[i + k * blockDim.x] = held[k];
        }
    }
    for (; i < chunks; i += blockDim.x) {
        to[i] = from[i];
    }
}
//@ end

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;
    const __half* from = table + (long long)ids[token] * d;
    __half* to = y + (long long)token * d;
    if (d % 8 == 0) {
        copy_chunks(reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to), d / 8);
    } else {
        for (int column = threadIdx.x; column < d; column += blockDim.x) {
            to[column] = from[column];
        }
    }
}
