// A thread takes contiguous pieces of shared memory that the block filled.
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = rows
// lockstep: dynamic_shared_bytes = 4096
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    extern __shared__ float s[];
    __shared__ float a[64], b[64];
    const float* from = x + (long long)blockIdx.x * columns;
    float m = -INFINITY, l = 0;
    for (int base = 0; base < columns; base += 1024) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += 64) s[i] = base + i < columns ? from[base + i] : -INFINITY;
        __syncthreads();
        float top = m;
        for (int j = 0; j < 16; j++) top = fmaxf(top, s[threadIdx.x * 16 + j]);
        if (top > -INFINITY) { l *= expf(m - top); for (int j = 0; j < 16; j++) l += expf(s[threadIdx.x * 16 + j] - top); m = top; }
    }
    a[threadIdx.x] = m; b[threadIdx.x] = l;
    __syncthreads();
    float top = -INFINITY, sum = 0;
    for (int t = 0; t < 64; t++) top = fmaxf(top, a[t]);
    for (int t = 0; t < 64; t++) sum += b[t] * expf(a[t] - top);
    const float log_sum = top + logf(sum);
    for (int i = threadIdx.x; i < columns; i += 64) y[(long long)blockIdx.x * columns + i] = expf(from[i] - log_sum);
    if (threadIdx.x == 63) lse[blockIdx.x] = log_sum;
}
