// Lanes are 32 floats apart: right, and every lane has a sector to itself.
// does not reach: Whole sectors
#include "lab.cuh"

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int each = (n + threads - 1) / threads;
    for (int i = thread * each; i < min((thread + 1) * each, n); i++) {
        y[i] = x[i];
    }
}
