// Bytes without a sign.
// rejected for: wrong_output
// leads to: bytes are signed
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = min(ceil_div(3 * n, block_x), 40)
// A thread an output, striding over the grid.
extern "C" __global__ void image_to_tensor(const signed char* __restrict__ pixels, const float* __restrict__ mean, const float* __restrict__ scale, float* __restrict__ y, int n)
{
    for (long long o = blockIdx.x * (long long)blockDim.x + threadIdx.x; o < 3LL * n; o += (long long)gridDim.x * blockDim.x) {
        const int c = (int)(o / n), p = (int)(o % n);
        y[o] = __fmul_rn((float)(unsigned char)pixels[3LL * p + c] - __ldg(mean + c), __ldg(scale + c));
    }
}
