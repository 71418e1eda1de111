// The tree begins at a quarter of the threads.
// rejected for: wrong_output
// leads to: every element
#include "lab.cuh"
#include <cuda_bf16.h>

#define T 256
// lockstep: largest_magnitude.block = T
// lockstep: largest_magnitude.grid = min(ceil_div(n, 8 * T), 1024)
extern "C" __global__ void largest_magnitude(const __nv_bfloat16* x, unsigned* largest, int n)
{
    __shared__ float tree[T];
    float m = 0.0f;
    for (int p = blockIdx.x * T + threadIdx.x; p < n / 8; p += gridDim.x * T) {
        const uint4 w = ((const uint4*)x)[p];
        const unsigned v[4] = {w.x, w.y, w.z, w.w};
        for (int j = 0; j < 4; j++) m = fmaxf(m, fmaxf(fabsf(__uint_as_float(v[j] << 16)), fabsf(__uint_as_float(v[j] & 0xffff0000u))));
    }
    tree[threadIdx.x] = m;
    __syncthreads();
    for (int h = T / 4; h > 0; h /= 2) {
        if (threadIdx.x < h) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + h]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(largest, __float_as_uint(tree[0]));
}
