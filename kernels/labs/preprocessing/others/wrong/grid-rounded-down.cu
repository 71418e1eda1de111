// The grid is rounded down.
// rejected for: never_written
// leads to: the end of each
#include "lab.cuh"

// lockstep: grid = max(n / block_x, 1)
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        for (int c = 0; c < 3; c++) {
            y[c * n + p] = (pixels[3 * p + c] - mean[c]) * scale[c];
        }
    }
}
