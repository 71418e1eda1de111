#include "lab.cuh"

// y = x, there and back through int8 with a scale of 0.05. Off by at most half a scale?
#define TRUNCATE 0

extern "C" __global__ void there_and_back(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float scale = 0.05f;
        //@ bound
        const float code = TRUNCATE ? truncf(x[i] / scale) : rintf(x[i] / scale);
        //@ end
        y[i] = code * scale;
    }
}
