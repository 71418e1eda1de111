// Ones up to the label.
// rejected for: wrong_output
// leads to: Which element should be 1
#include "lab.cuh"
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * classes) y[i] = labels[i / classes] >= i % classes ? 1.0f : 0.0f;
}
