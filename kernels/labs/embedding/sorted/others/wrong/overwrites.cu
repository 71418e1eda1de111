// Keeps only the last bag of each row.
// rejected for: wrong_output
// leads to: grows with
#include "lab.cuh"
extern "C" __global__ void gather_gradient(const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= vocabulary) return;
    for (int c = lane; c < d; c += 32) {
        float sum = 0.0f;
        for (int k = offsets[row]; k < offsets[row + 1]; k++) sum = g[(long long)from[k] * d + c];
        gradient[(long long)row * d + c] = sum;
    }
}
