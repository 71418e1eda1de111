// A thread walks down a column, with mean and scale in registers.
#include "lab.cuh"
// lockstep: grid = ceil_div(n, 128), 8
// lockstep: block = 128
extern "C" __global__ void gather_batch(const signed char* raw, const float* mean, const float* scale, const int* chosen, float* y, int batch, int n)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    const float m = mean[c], s = scale[c];
    for (int r = blockIdx.y; r < batch; r += gridDim.y) y[(long long)r * n + c] = s * ((float)raw[(long long)chosen[r] * n + c] - m);
}
