// Pointers to the row of the block, indexed by the thread.
#include "lab.cuh"

__device__ int multiprocessor() { int s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    int* rows[3] = {sm + blockIdx.x * blockDim.x, warp + blockIdx.x * blockDim.x, lane + blockIdx.x * blockDim.x};
    const auto t = threadIdx.x;
    rows[0][t] = multiprocessor();
    rows[1][t] = t / WARP_SIZE;
    rows[2][t] = t - rows[1][t] * WARP_SIZE;
}
