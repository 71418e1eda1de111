// A thousand threads, and a tree in shared memory.
// does not reach: Two reads
#include "lab.cuh"
// lockstep: block = 1024
// lockstep: grid = rows
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    __shared__ float a[1024];
    const int t = threadIdx.x, row = blockIdx.x;
    float m = -INFINITY;
    for (int i = t; i < columns; i += 1024) m = fmaxf(m, x[(long long)row * columns + i]);
    a[t] = m;
    __syncthreads();
    for (int h = 512; h; h >>= 1) {
        if (t < h) a[t] = fmaxf(a[t], a[t + h]);
        __syncthreads();
    }
    m = a[0];
    __syncthreads();
    float s = 0.0f;
    for (int i = t; i < columns; i += 1024) s += expf(x[(long long)row * columns + i] - m);
    a[t] = s;
    __syncthreads();
    for (int h = 512; h; h >>= 1) {
        if (t < h) a[t] += a[t + h];
        __syncthreads();
    }
    s = a[0];
    for (int i = t; i < columns; i += 1024) y[(long long)row * columns + i] = expf(x[(long long)row * columns + i] - m) / s;
    if (!t) lse[row] = m + logf(s);
}
