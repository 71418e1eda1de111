// Notes a number that no multiprocessor has.
// rejected for: wrong_output
// leads to: no multiprocessor has that number
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
    sm[place] = -1;
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
