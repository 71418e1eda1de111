// Pairs only: the last element of an odd n has no code.
// rejected for: wrong_output
// leads to: did a thread come here
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 512
// lockstep: find_amax.grid = 4
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, 2 * block_x)
// A tree in shared memory; pairs in the second launch.
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    __shared__ float s[512];
    float most = 0;
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
        const float v = __half2float(x[i]);
        if (v > most) most = v;
        if (-v > most) most = -v;
    }
    s[threadIdx.x] = most;
    __syncthreads();
    for (int half = 256; half > 0; half >>= 1) {
        if (threadIdx.x < half) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(amax, __float_as_uint(s[0]));
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    const float s = __uint_as_float(amax[0]) / 127.0f, d = s == 0 ? 1.0f : s;
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair == 0) scale[0] = s;
    if (2 * pair + 1 < n) {
        const float2 v = __half22float2(reinterpret_cast<const __half2*>(x)[pair]);
        reinterpret_cast<char2*>(codes)[pair] = make_char2((signed char)rintf(v.x / d), (signed char)rintf(v.y / d));
    }
}
