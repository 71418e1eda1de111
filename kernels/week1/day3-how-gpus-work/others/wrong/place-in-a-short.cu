// Keeps the place in 16 bits.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"

__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const short place = blockIdx.x * blockDim.x + threadIdx.x;
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
