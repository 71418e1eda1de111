#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 2048), 1024)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, block_x)

// First launch: amax[0] = the bits of the largest magnitude in x. It holds 0 before.
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    // TODO 1: the largest magnitude of this thread's elements, from 0.0f up: its index i, i + threads in the grid, and so on.

    // TODO 2: the largest of the warp, by shuffles. All lanes take part.

    // TODO 3: one lane a warp: atomicMax on whole numbers. For floats from 0 on, the bits are in the same order.
}

// Second launch: scale[0] = the largest magnitude / 127, and codes[i] = x[i] / scale, rounded to nearest even.
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    // TODO 4: every thread works out the scale for itself; one stores it.

    // TODO 5: the code of element i, from -127 to 127. What if the scale is 0?
}
