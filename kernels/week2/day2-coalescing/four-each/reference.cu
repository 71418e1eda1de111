#include "lab.cuh"

// Copies n floats. A block of 256 threads owns 1,024 contiguous floats: four for each thread.
extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int first = blockIdx.x * 1024;  // the block's first float
    for (int round = 0; round < 4; round++) {
        const int i = first + 256 * round + threadIdx.x;
        if (i < n) {
            y[i] = x[i];
        }
    }
}
