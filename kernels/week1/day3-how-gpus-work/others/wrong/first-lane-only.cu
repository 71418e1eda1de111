// Lets the first lane of a warp write for the others, but only its own place.
// rejected for: never_written
// leads to: no `if` is needed
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
    if (threadIdx.x % 32 == 0) {
        sm[place] = multiprocessor();
        warp[place] = threadIdx.x / 32;
        lane[place] = threadIdx.x % 32;
    }
}
