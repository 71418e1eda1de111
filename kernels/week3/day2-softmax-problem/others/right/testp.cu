// Asks the hardware with testp in inline PTX.
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    int nan, inf;
    asm("{ .reg .pred p; testp.notanumber.f32 p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(nan) : "f"(v));
    asm("{ .reg .pred p; testp.infinite.f32 p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(inf) : "f"(v));
    if (nan) atomicAdd(&counts[0], 1);
    if (inf) atomicAdd(&counts[1 + (v < 0)], 1);
}
