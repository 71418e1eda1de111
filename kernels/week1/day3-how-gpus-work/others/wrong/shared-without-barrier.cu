// One thread reads the number for its block, and nobody waits.
// rejected for: race
// leads to: no barrier
#include "lab.cuh"
__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int number;
    if (threadIdx.x == 0) number = multiprocessor();
    sm[place] = number;
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
