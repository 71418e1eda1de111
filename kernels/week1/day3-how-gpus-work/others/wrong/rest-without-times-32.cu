// Takes the warp away from the thread's number, and not 32 times the warp.
// rejected for: wrong_output
// leads to: 32 times the warp
#include "lab.cuh"

// Which multiprocessor runs this thread. No variable of C++ says so, but the hardware has a register for it, %smid, and
// this line reads it.
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
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x - warp[place];
}
