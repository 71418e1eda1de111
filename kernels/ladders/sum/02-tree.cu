#include "lab.cuh"

// Sum, rung 2: a block adds its elements in shared memory, as a tree, and only its total goes to the result.
//
// In each step the lower half of the threads adds what the upper half holds: log2(BLOCK) steps in place of BLOCK
// additions in a row, and one atomic addition for BLOCK elements. Halving from the top keeps the threads that work side
// by side, so whole warps drop out and no bank is hit twice. y must hold 0 before the launch.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, BLOCK)
#define BLOCK 256

extern "C" __global__ void sum(const float* __restrict__ x, float* __restrict__ y, int n)
{
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * BLOCK + t;
    part[t] = i < n ? x[i] : 0.0f;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        // The barrier is outside the branch: all threads must reach it.
        __syncthreads();
        if (t < half) {
            part[t] += part[t + half];
        }
    }
    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}
