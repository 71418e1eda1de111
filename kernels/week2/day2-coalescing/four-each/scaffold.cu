#include "lab.cuh"

// Copies n floats. A block of 256 threads owns 1,024 contiguous floats: four for each thread.
extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int first = blockIdx.x * 1024;  // the block's first float
    for (int round = 0; round < 4; round++) {
        // TODO: which float does this thread copy in this round? This i is past the end, so it copies nothing.
        const int i = first + n;

        if (i < n) {
            y[i] = x[i];
        }
    }
}
