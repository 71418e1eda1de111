// Rows along the grid's y.
#include "lab.cuh"
// lockstep: grid = ceil_div(classes, 128), 16
// lockstep: block = 128
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    for (int row = blockIdx.y; row < n; row += gridDim.y) {
        const int label = labels[row];
        for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < classes; c += gridDim.x * blockDim.x) y[(size_t)row * classes + c] = (float)(c == label);
    }
}
