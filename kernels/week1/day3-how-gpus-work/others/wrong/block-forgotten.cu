// Believes that threadIdx.x numbers all threads.
// rejected for: race
// leads to: Two threads wrote
#include "lab.cuh"

__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int place = threadIdx.x;
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
