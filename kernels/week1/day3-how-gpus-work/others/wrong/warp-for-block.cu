// Steps by 32 from block to block, as if a block were a warp.
// rejected for: race
// leads to: place
#include "lab.cuh"

__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int place = blockIdx.x * 32 + threadIdx.x;
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
