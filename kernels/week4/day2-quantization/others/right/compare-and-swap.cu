// A maximum of floats by compare-and-swap, and the magic number 1.5 * 2^23 for rounding.
// does not reach: Wide accesses
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 256), 64)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, 256)
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    __shared__ float part[256];
    float m = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) m = fmaxf(m, fabsf(__half2float(x[i])));
    part[threadIdx.x] = m;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) {
        unsigned old = *(volatile unsigned*)amax;
        while (__uint_as_float(old) < part[0]) {
            unsigned seen = atomicCAS(amax, old, __float_as_uint(part[0]));
            if (seen == old) break;
            old = seen;
        }
    }
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float s = __uint_as_float(amax[0]) / 127.0f;
    if (i == 0) scale[0] = s;
    if (i < n) {
        float q = s == 0.0f ? 0.0f : __half2float(x[i]) / s;
        codes[i] = (signed char)__float_as_int(q + 12582912.0f);
    }
}
