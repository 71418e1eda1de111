// Each thread takes 16 pixels in a row.
// does not reach: One pass over memory
// does not reach: Nine tenths of a copy
#include "lab.cuh"

// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int p = first; p < first + 16 && p < n; p++) {
        for (int c = 0; c < 3; c++) y[c * n + p] = (pixels[3 * p + c] - mean[c]) * scale[c];
    }
}
