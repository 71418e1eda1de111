// A thread a value, planes first.
// does not reach: Nine tenths of a copy
#include "lab.cuh"

// lockstep: grid = ceil_div(3 * n, block_x)
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * n) {
        const int c = i / n, p = i - c * n;
        y[i] = (pixels[3 * p + c] - mean[c]) * scale[c];
    }
}
