// An atomic for every element. Slow, and right.
// does not reach: Wide accesses
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = ceil_div(n, 256)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, 256)
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicMax(amax, __float_as_uint(fabsf(__half2float(x[i]))));
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float s = __fdiv_rn(__uint_as_float(*amax), 127.0f);
    if (i == 0) *scale = s;
    if (i < n) codes[i] = s > 0 ? __float2int_rn(__fdiv_rn(__half2float(x[i]), s)) : 0;
}
