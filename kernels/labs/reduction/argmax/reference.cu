#include "lab.cuh"

// Each thread keeps value and index in two registers, and packs them once at the end: a comparison of floats is cheaper
// than one of 64-bit numbers. It meets its elements in ascending order, so `>` keeps the first of equal ones. LOADS
// float4 are in flight.
// lockstep: find_max.block = BLOCK
// lockstep: find_max.grid = min(ceil_div(n, 4 * LOADS * BLOCK), 396)
#define BLOCK 512
#define LOADS 4
#define WARPS (BLOCK / 32)

typedef unsigned long long Candidate;

__device__ Candidate pack(float value, int index)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ((Candidate)key << 32) | (unsigned)~index;
}

struct Best
{
    float value;
    int index;

    __device__ void meet(float other, int at)
    {
        if (other > value) {
            value = other;
            index = at;
        }
    }

    __device__ void meet(float4 four, int at)
    {
        meet(four.x, at);
        meet(four.y, at + 1);
        meet(four.z, at + 2);
        meet(four.w, at + 3);
    }
};

__device__ Candidate warp_max(Candidate mine)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        mine = max(mine, __shfl_xor_sync(FULL_MASK, mine, distance));
    }
    return mine;
}

extern "C" __global__ void __launch_bounds__(BLOCK) find_max(const float* __restrict__ x, Candidate* best, int n)
{
    __shared__ Candidate part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float4* quads = reinterpret_cast<const float4*>(x);
    const int count = n / 4, step = gridDim.x * BLOCK * LOADS;
    Best mine = {-INFINITY, INT_MAX};
    int first = blockIdx.x * BLOCK * LOADS + threadIdx.x;
    for (; first + (LOADS - 1) * BLOCK < count; first += step) {
        float4 v[LOADS];
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            v[u] = quads[first + u * BLOCK];
        }
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            mine.meet(v[u], 4 * (first + u * BLOCK));
        }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        if (first + u * BLOCK < count) {
            mine.meet(quads[first + u * BLOCK], 4 * (first + u * BLOCK));
        }
    }
    const int tail = 4 * count + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) {
        mine.meet(x[tail], tail);
    }

    Candidate candidate = warp_max(mine.index == INT_MAX ? 0 : pack(mine.value, mine.index));
    if (lane == 0) {
        part[warp] = candidate;
    }
    __syncthreads();
    if (warp == 0) {
        candidate = warp_max(lane < WARPS ? part[lane] : 0);
        if (lane == 0) {
            atomicMax(best, candidate);
        }
    }
}
