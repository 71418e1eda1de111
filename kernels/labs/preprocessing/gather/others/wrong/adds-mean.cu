// Adds the mean.
// rejected for: wrong_output
// leads to: mean is subtracted first
#include "lab.cuh"
extern "C" __global__ void gather_batch(const signed char* raw, const float* mean, const float* scale, const int* chosen, float* y, int batch, int n)
{
    const int r = blockIdx.x;
    const long long from = (long long)chosen[r] * n, to = (long long)r * n;
    for (int c = threadIdx.x; c < n; c += blockDim.x) y[to + c] = (raw[from + c] + mean[c]) * scale[c];
}
