// The block's bytes go through shared memory.
// does not reach: Nine tenths of a copy
#include "lab.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 256)
extern "C" __global__ void image_to_tensor(
    const signed char* pixels, const float* mean, const float* scale, float* y, int n)
{
    __shared__ signed char tile[768];
    const long long first = 256LL * blockIdx.x;
    for (int k = threadIdx.x; k < 768; k += 256) {
        if (3 * first + k < 3LL * n) {
            tile[k] = pixels[3 * first + k];
        }
    }
    __syncthreads();
    const long long p = first + threadIdx.x;
    if (p < n) {
        for (int c = 0; c < 3; c++) {
            y[c * (long long)n + p] = (tile[3 * threadIdx.x + c] - mean[c]) * scale[c];
        }
    }
}
