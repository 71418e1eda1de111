// Other names, shifts and masks, and the register read as unsigned.
#include "lab.cuh"

extern "C" __global__ void who_ran(int* where, int* group, int* slot)
{
    unsigned s;
    asm("mov.u32 %0, %%smid;" : "=r"(s));
    const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    where[i] = (int)s;
    group[i] = t >> 5;
    slot[i] = t & 31;
}
