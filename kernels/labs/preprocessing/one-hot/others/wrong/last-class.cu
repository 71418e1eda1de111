// A block of 256 threads for each row, and no loop.
// rejected for: never_written
// leads to: more columns than a block has threads
#include "lab.cuh"
// lockstep: grid = n
// lockstep: block = 256
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    const int row = blockIdx.x, c = threadIdx.x;
    if (c < classes) y[row * classes + c] = c == labels[row];
}
