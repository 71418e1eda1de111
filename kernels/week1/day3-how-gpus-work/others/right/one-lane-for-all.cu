// The first lane of a warp writes for all of its warp.
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
    const int first = threadIdx.x & ~31;
    if (threadIdx.x == first)
        for (int l = 0; l < 32 && first + l < blockDim.x; ++l) {
            const int at = place + l;
            sm[at] = multiprocessor();
            warp[at] = first / 32;
            lane[at] = l;
        }
}
