// A kind for each value, counted in registers, and one reduction of the warp.
// does not reach: Wide loads
#include "lab.cuh"
// lockstep: count_bad.block = 128
// lockstep: count_bad.grid = min(16, ceil_div(n, 128))
enum Kind { Nan, Plus, Minus, Fine };
__device__ Kind classify(float v)
{
    if (v != v) return Nan;
    if (v > FLT_MAX) return Plus;
    if (v < -FLT_MAX) return Minus;
    return Fine;
}
extern "C" __global__ void count_bad(const float* __restrict__ x, int* __restrict__ counts, int n)
{
    unsigned mine[3] = {0, 0, 0};
    const int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const Kind k = classify(__ldg(&x[i]));
        for (int c = 0; c < 3; c++) mine[c] += k == c;
    }
    for (int c = 0; c < 3; c++) {
        const unsigned all = __reduce_add_sync(FULL_MASK, mine[c]);
        if (threadIdx.x % 32 == 0) atomicAdd(&counts[c], (int)all);
    }
}
