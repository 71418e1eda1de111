// One thread reports before the others are done.
// rejected for: race
// leads to: __syncthreads
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 2048), 64)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, block_x)
// The bits of a half without its sign are in the order of the magnitudes too: a maximum of 16-bit whole numbers.
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    __shared__ unsigned best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    const unsigned short* bits = reinterpret_cast<const unsigned short*>(x);
    unsigned most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) most = max(most, bits[i] & 0x7fffu);
    most = __reduce_max_sync(0xffffffff, most);
    if ((threadIdx.x & 31) == 0) atomicMax(&best, most);
    if (threadIdx.x == 0) atomicMax(amax, best);
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    const float s = __half2float(__ushort_as_half((unsigned short)amax[0])) / 127.0f;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) scale[0] = s;
    if (i >= n) return;
    if (s == 0.0f) { codes[i] = 0; return; }
    codes[i] = static_cast<signed char>(nearbyintf(__half2float(x[i]) / s));
}
