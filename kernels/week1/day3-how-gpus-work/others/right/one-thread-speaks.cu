// The first thread of a block writes for all of it: slow, and right.
// does not reach: Together
#include "lab.cuh"

__device__ int multiprocessor() { int s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    if (threadIdx.x != 0) return;
    for (int t = 0; t < blockDim.x; t++) {
        const int i = blockIdx.x * blockDim.x + t;
        sm[i] = multiprocessor();
        warp[i] = t / 32;
        lane[i] = t % 32;
    }
}
