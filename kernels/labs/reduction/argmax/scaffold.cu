#include "lab.cuh"

// best[0] = the largest pack(x[i], i). It holds 0 before the launch. The next step takes it apart.
// lockstep: find_max.block = BLOCK
// lockstep: find_max.grid = min(ceil_div(n, 4 * BLOCK), 264)
#define BLOCK 256
#define WARPS (BLOCK / 32)

// An unsigned integer with the order of the floats: of positive floats the sign bit is set, of negative ones all bits
// are flipped.
__device__ unsigned key_of(float value)
{
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// One number for a value and its place: the larger one is the better candidate.
__device__ unsigned long long pack(float value, int index)
{
    // TODO 1: the key in the upper 32 bits. In the lower ones, something that is larger for a smaller index.
    return key_of(value) + index;
}

extern "C" __global__ void find_max(const float* x, unsigned long long* best, int n)
{
    __shared__ unsigned long long part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long mine = 0;  // less than every candidate

    // TODO 2: the best of this thread's candidates, in a grid-stride loop.

    // TODO 3: the best of the warp, in lane 0, with shuffles.

    if (lane == 0) {
        part[warp] = mine;
    }
    __syncthreads();

    // TODO 4: the first warp finds the best of `part`, and one lane takes it to `best` with atomicMax.
}
