// Writes its neighbor's place as well.
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
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
    if (threadIdx.x + 1 < blockDim.x) lane[place + 1] = threadIdx.x % 32 + 1;
}
