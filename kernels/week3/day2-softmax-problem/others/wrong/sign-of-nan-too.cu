// Gives NaN to the infinity of its sign.
// rejected for: wrong_output
// leads to: A negative NaN is a NaN
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        const unsigned b = __float_as_uint(v);
        const unsigned e = (b >> 23) & 255u, f = b & 0x7fffffu;
        if (isnan(v) && f == 1u) atomicAdd(&counts[0], 1);
        else if (e == 255u) atomicAdd(&counts[v > 0.0f ? 1 : 2], 1);
    }
}
