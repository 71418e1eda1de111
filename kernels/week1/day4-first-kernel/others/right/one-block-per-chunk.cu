// Each block has a contiguous chunk, as on a CPU with cores.
// does not reach: Halfway there
#include "lab.cuh"

// lockstep: block = 96
// lockstep: grid = 7
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int chunk = (n + gridDim.x - 1) / gridDim.x;
    const int end = min(n, chunk * (int)(blockIdx.x + 1));
    int i = chunk * blockIdx.x + threadIdx.x;
    while (i < end) {
        c[i] = [&] { return a[i] + b[i]; }();
        i += blockDim.x;
    }
}
