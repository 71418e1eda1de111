// Casts to int: toward 0.
// rejected for: wrong_output
// leads to: rintf
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 2048), 1024)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, block_x)

// First launch: amax[0] = the bits of the largest magnitude in x. It holds 0 before.
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    float most = 0.0f;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        most = fmaxf(most, fabsf(__half2float(x[i])));
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }

    if (threadIdx.x % 32 == 0) {
        atomicMax(amax, __float_as_uint(most));
    }
}

// Second launch: scale[0] = the largest magnitude / 127, and codes[i] = x[i] / scale, rounded to nearest even.
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    const float of_all = __uint_as_float(amax[0]) / 127.0f;
    if (i == 0) {
        scale[0] = of_all;
    }

    if (i < n) {
        codes[i] = of_all == 0.0f ? 0 : (int)(__half2float(x[i]) / of_all);
    }
}
