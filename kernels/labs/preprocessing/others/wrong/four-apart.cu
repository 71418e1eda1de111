// Four bytes a pixel, as with an alpha channel.
// rejected for: out_of_bounds
// leads to: 3 * n elements
#include "lab.cuh"

extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        for (int c = 0; c < 3; c++) {
            y[c * n + p] = (pixels[4 * p + c] - mean[c]) * scale[c];
        }
    }
}
