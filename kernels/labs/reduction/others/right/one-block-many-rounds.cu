// One block of 1024 does it all: no second stage is needed.
#include "lab.cuh"
// lockstep: block = 1024
// lockstep: grid = 1
extern "C" __global__ void sum(const float* x, float* partial, unsigned* done, float* y, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    float acc = 0;
    for (int i = t; i < n; i += 1024) acc += x[i];
    s[t] = acc;
    for (int half = 512; half; half >>= 1) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (!t) *y = s[0];
}
