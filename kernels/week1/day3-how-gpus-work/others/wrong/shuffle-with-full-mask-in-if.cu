// Exchanges within half a warp, naming all lanes.
// rejected for: mask_misuse
// leads to: 0x0000ffff
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
    sm[place] = multiprocessor();
    lane[place] = threadIdx.x % 32;
    int number = threadIdx.x / 32;
    if (threadIdx.x % 32 < 16) number = __shfl_sync(0xffffffff, number, 0);
    warp[place] = number;
}
