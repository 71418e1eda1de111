#include "lab.cuh"

// A thread takes one byte. Neighbors in a warp store into different planes.
// does not reach: One pass over memory
// does not reach: Nine tenths of a copy
// lockstep: block = 256
// lockstep: grid = ceil_div(3 * n, block_x)
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * n) {
        y[i % 3 * n + i / 3] = (pixels[i] - mean[i % 3]) * scale[i % 3];
    }
}
