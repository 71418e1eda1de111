// Each thread copies four neighbors: right, and lanes are 16 bytes apart.
// does not reach: Whole sectors
#include "lab.cuh"

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int first = blockIdx.x * 1024 + 4 * threadIdx.x;
    for (int i = first; i < min(first + 4, n); i++) {
        y[i] = x[i];
    }
}
