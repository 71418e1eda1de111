#include "lab.cuh"

// One byte a thread.
// does not reach: Four bytes a load
extern "C" __global__ void gather_batch(const signed char* raw, const float* mean, const float* scale,
                                        const int* chosen, float* y, int batch, int n)
{
    const long long from = (long long)chosen[blockIdx.x] * n;
    for (int c = threadIdx.x; c < n; c += blockDim.x) {
        y[(long long)blockIdx.x * n + c] = (raw[from + c] - mean[c]) * scale[c];
    }
}
