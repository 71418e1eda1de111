// Shifts by 32, the number of lanes, and not by 5.
// rejected for: never_written
// leads to: A shift by 32
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
    const int lanes = 32;
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x >> lanes;
    lane[place] = threadIdx.x % lanes;
}
