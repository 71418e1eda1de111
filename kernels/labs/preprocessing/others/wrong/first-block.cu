// The block's number is missing.
// rejected for: never_written
// leads to: first block
#include "lab.cuh"

extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int p = threadIdx.x;
    if (p < n) {
        for (int c = 0; c < 3; c++) {
            y[c * n + p] = (pixels[3 * p + c] - mean[c]) * scale[c];
        }
    }
}
