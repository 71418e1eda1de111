// The maximum as an ordered whole number, with the reduction instruction of the warp.
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
__device__ unsigned ordered(float v) { unsigned b = __float_as_uint(v); return b & 0x80000000u ? ~b : b | 0x80000000u; }
__device__ float back(unsigned b) { return __uint_as_float(b & 0x80000000u ? b & 0x7fffffffu : ~b); }
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    __shared__ unsigned top;
    __shared__ float total;
    if (threadIdx.x == 0) { top = 0; total = 0; }
    __syncthreads();
    const float* from = x + (long long)blockIdx.x * columns;
    unsigned m = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) m = max(m, ordered(from[i]));
    m = __reduce_max_sync(0xffffffffu, m);
    if ((threadIdx.x & 31) == 0) atomicMax(&top, m);
    __syncthreads();
    const float most = back(top);
    float s = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) s += expf(from[i] - most);
    for (int o = 1; o < 32; o *= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0) atomicAdd(&total, s);
    __syncthreads();
    const float inverse = __frcp_rn(total);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(long long)blockIdx.x * columns + i] = expf(from[i] - most) * inverse;
    if (threadIdx.x == 0) lse[blockIdx.x] = most + logf(total);
}
