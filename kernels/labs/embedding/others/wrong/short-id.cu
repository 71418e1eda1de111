// The id in 16 bits.
// rejected for: wrong_output
// leads to: row wrong
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 64, 4
// lockstep: grid = ceil_div(tokens, block_y)
// Four tokens a block; 16 bytes a lane where d allows it, else 4 where it allows that, else 2.
template <typename T> __device__ void copy(const __half* from, __half* to, int d)
{
    const int each = sizeof(T) / 2;
    for (int c = threadIdx.x; c < d / each; c += blockDim.x) reinterpret_cast<T*>(to)[c] = reinterpret_cast<const T*>(from)[c];
}
extern "C" __global__ void gather_rows(const __half* __restrict__ table, const int* __restrict__ ids, __half* __restrict__ y, int tokens, int d)
{
    const int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens) return;
    const __half* from = table + (size_t)(unsigned short)ids[token] * d;
    __half* to = y + (size_t)token * d;
    if (d % 8 == 0) copy<uint4>(from, to, d);
    else if (d % 2 == 0) copy<unsigned>(from, to, d);
    else copy<__half>(from, to, d);
}
