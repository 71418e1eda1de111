// The image is believed to have planes.
// rejected for: wrong_output
// leads to: Which channel is wrong
#include "lab.cuh"

extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        for (int c = 0; c < 3; c++) {
            y[c * n + p] = (pixels[c * n + p] - mean[c]) * scale[c];
        }
    }
}
