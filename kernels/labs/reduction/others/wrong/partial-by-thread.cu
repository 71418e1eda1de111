// Each thread stores its own share.
// rejected for: race
// leads to: partial
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = min(ceil_div(n, 128), 100)
// A tree in shared memory; atomicInc wraps the counter by itself.
extern "C" __global__ void sum(const float* x, float* partial, unsigned* done, float* y, int n)
{
    __shared__ float s[128];
    __shared__ bool last;
    const int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += 128 * gridDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int h = 64; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) {
        partial[threadIdx.x] = s[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    s[t] = t < gridDim.x ? ((volatile float*)partial)[t] : 0.0f;
    __syncthreads();
    for (int h = 64; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) y[0] = s[0];
}
