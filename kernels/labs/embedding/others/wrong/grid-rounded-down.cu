// Four tokens a block, and the grid rounded down.
// rejected for: never_written
// leads to: `ceil_div` rounds up
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: grid = max(tokens / 4, 1)
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int t = blockIdx.x * 4 + threadIdx.x / 32;
    if (t < tokens) {
        for (int c = threadIdx.x % 32; c < d; c += 32) {
            y[(long long)t * d + c] = table[(long long)ids[t] * d + c];
        }
    }
}
