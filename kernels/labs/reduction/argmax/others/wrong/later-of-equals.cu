// >= in the loop.
// rejected for: wrong_output
// leads to: the first counts
#include "lab.cuh"
// lockstep: find_max.block = 128
// lockstep: find_max.grid = min(ceil_div(n, 512), 64)
__device__ unsigned long long better(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
__device__ unsigned long long candidate(float v, int i)
{
    int bits = __float_as_int(v);
    unsigned key = bits ^ (bits >> 31 | 0x80000000);
    return (unsigned long long)key << 32 | (0xffffffffu - i);
}
extern "C" __global__ void find_max(const float* __restrict__ x, unsigned long long* best, int n)
{
    __shared__ unsigned long long of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    float most = -INFINITY;
    int where = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] >= most) { most = x[i]; where = i; }
    unsigned long long mine = most == -INFINITY ? 0 : candidate(most, where);
    for (int d = 16; d > 0; d >>= 1) mine = better(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    if (threadIdx.x % 32 == 0) atomicMax(&of_block, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(best, of_block);
}
