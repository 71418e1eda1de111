// The lane counted from the mask of the lanes below.
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
//
// The three arrays have one row for each block and one column for each thread of a block. They lie row by row, so a row
// is blockDim.x elements long.
extern "C" __global__ void who_ran(int* sm, int* warp, int* lane)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    sm[place] = multiprocessor();
    warp[place] = threadIdx.x / warpSize;
    lane[place] = __popc(below);
}
