// A block has one multiprocessor, so one number for each block seems enough.
// rejected for: tail_missing
// leads to: One for each block
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
    if (threadIdx.x == 0) {
        sm[blockIdx.x] = multiprocessor();
    }
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
