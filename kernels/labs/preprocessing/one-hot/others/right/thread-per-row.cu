#include "lab.cuh"

// A thread writes a whole row: neighbors store far apart.
// does not reach: Full sectors
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) {
        return;
    }
    for (int c = 0; c < classes; c++) {
        y[row * classes + c] = c == labels[row];
    }
}
