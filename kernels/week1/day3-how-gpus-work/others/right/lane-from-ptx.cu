// Reads the lane from its own register.
#include "lab.cuh"

// Which multiprocessor runs this thread. No variable of C++ says so, but the hardware has a register for it, %smid, and
// this line reads it.
__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

// Every thread notes who ran it: the multiprocessor, the warp of its block, and the lane of that warp.
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;

    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / 32;
    unsigned number;
    asm("mov.u32 %0, %%laneid;" : "=r"(number));
    lane[place] = number;
}
