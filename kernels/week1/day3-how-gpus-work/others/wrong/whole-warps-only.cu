// Believes that a block has only whole warps.
// rejected for: never_written
// leads to: written
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
    if (threadIdx.x < blockDim.x / 32 * 32) {
        sm[place] = multiprocessor();
        warp[place] = threadIdx.x / 32;
        lane[place] = threadIdx.x % 32;
    }
}
