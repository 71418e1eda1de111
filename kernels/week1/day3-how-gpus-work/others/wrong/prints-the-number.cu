// Notes what printf returns.
// rejected for: wrong_output
// leads to: what the hardware said
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
    sm[place] = printf("%d", multiprocessor());
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
