#include "lab.cuh"

// gradient[row] = the sum of g[from[k]] for k from offsets[row] to just before offsets[row + 1]. One warp does one row.
extern "C" __global__ void gather_gradient(
    const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= vocabulary) {
        return;
    }
    for (int c = lane; c < d; c += 32) {
        float sum = 0.0f;
        // TODO: add up column c of the gradients of all bags that this row was in.
        gradient[(long long)row * d + c] = sum;
    }
}
