// Value and index in two registers, two shuffles, packed at the very end.
// does not reach: At the ceiling
#include "lab.cuh"
// lockstep: find_max.block = 128
// lockstep: find_max.grid = min(ceil_div(n, 512), 512)
__device__ bool better(float a, int i, float b, int j) { return a > b || (a == b && i < j); }
extern "C" __global__ void find_max(const float* x, unsigned long long* best, int n)
{
    __shared__ float vs[4];
    __shared__ int is[4];
    float v = -INFINITY;
    int at = INT_MAX;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (better(x[i], i, v, at)) { v = x[i]; at = i; }
    for (int o = 16; o; o /= 2) {
        float w = __shfl_xor_sync(FULL_MASK, v, o);
        int j = __shfl_xor_sync(FULL_MASK, at, o);
        if (better(w, j, v, at)) { v = w; at = j; }
    }
    if (threadIdx.x % 32 == 0) { vs[threadIdx.x / 32] = v; is[threadIdx.x / 32] = at; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 4; k++)
            if (better(vs[k], is[k], v, at)) { v = vs[k]; at = is[k]; }
        if (at != INT_MAX) {
            int bits = __float_as_int(v);
            unsigned key = bits < 0 ? ~(unsigned)bits : (unsigned)bits | 0x80000000u;
            atomicMax(best, (unsigned long long)key << 32 | (0xffffffffu - (unsigned)at));
        }
    }
}
