
#include "lab.cuh"

// y[c][p] = (pixels[p][c] - mean[c]) * scale[c], a thread a pixel.
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n + 1) {
        for (int c = 0; c < 3; c++) {
            y[c * n + p] = (pixels[3 * p + c] - mean[c]) * scale[c];
        }
    }
}
