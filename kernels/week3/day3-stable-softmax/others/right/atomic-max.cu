// The maximum by an atomic on bits whose order is that of the floats.
// does not reach: Two reads
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    __shared__ unsigned key;
    __shared__ float total;
    const float* from = x + (size_t)blockIdx.x * columns;
    if (threadIdx.x == 0) { key = 0; total = 0; }
    __syncthreads();
    float m = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256) m = fmaxf(m, from[i]);
    unsigned b = __float_as_uint(m);
    atomicMax(&key, b & 0x80000000u ? ~b : b | 0x80000000u);
    __syncthreads();
    b = key;
    m = __uint_as_float(b & 0x80000000u ? b & 0x7fffffffu : ~b);
    float s = 0;
    for (int i = threadIdx.x; i < columns; i += 256) s += expf(from[i] - m);
    atomicAdd(&total, s);
    __syncthreads();
    s = total;
    for (int i = threadIdx.x; i < columns; i += 256) y[(size_t)blockIdx.x * columns + i] = expf(from[i] - m) / s;
    if (threadIdx.x == 0) lse[blockIdx.x] = m + logf(s);
}
