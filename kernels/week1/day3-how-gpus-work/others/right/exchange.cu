// Stores with an exchange, whose old value nobody looks at.
#include "lab.cuh"

__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    atomicExch(&sm[p], multiprocessor());
    atomicExch(&warp[p], (int)threadIdx.x / 32);
    atomicExch(&lane[p], (int)threadIdx.x % 32);
}
