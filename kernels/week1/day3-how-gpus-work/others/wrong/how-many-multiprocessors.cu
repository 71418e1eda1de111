// Reads how many there are instead of which.
// rejected for: wrong_output
// leads to: made up
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
    int number;
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(number));
    sm[place] = number;
    warp[place] = threadIdx.x / 32;
    lane[place] = threadIdx.x % 32;
}
