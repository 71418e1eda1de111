// As on a CPU: one thread copies one row.
// does not reach: Whole sectors
// does not reach: Nine tenths of a copy
// does not reach: As good as a copy
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: grid = ceil_div(tokens, block_x)
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tokens) {
        for (int c = 0; c < d; c++) {
            y[(size_t)t * d + c] = table[(size_t)ids[t] * d + c];
        }
    }
}
