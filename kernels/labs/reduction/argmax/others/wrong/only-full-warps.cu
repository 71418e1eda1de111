// Leaves out what does not fill a warp.
// rejected for: wrong_output
// leads to: some elements are never looked at
#include "lab.cuh"

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
    return ((unsigned long long)key_of(value) << 32) | (unsigned)~index;
}

extern "C" __global__ void find_max(const float* x, unsigned long long* best, int n)
{
    __shared__ unsigned long long part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long mine = 0;  // less than every candidate
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / 32 * 32 + (n < 32 ? n : 0); i += gridDim.x * BLOCK) {
        mine = max(mine, pack(x[i], i));
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        mine = max(mine, __shfl_down_sync(FULL_MASK, mine, distance));
    }
    if (lane == 0) {
        part[warp] = mine;
    }
    __syncthreads();
    if (warp == 0) {
        mine = lane < WARPS ? part[lane] : 0ull;
        for (int distance = 16; distance > 0; distance /= 2) {
            mine = max(mine, __shfl_down_sync(FULL_MASK, mine, distance));
        }
        if (lane == 0) {
            atomicMax(best, mine);
        }
    }
}
