#include "lab.cuh"

// Weights to whole numbers of BITS bits and back again, GROUP of them with one scale. A block of 512 threads does 512 weights.
#define GROUP 128
#define BITS 4

extern "C" __global__ void round_trip(const float* x, float* y)
{
    __shared__ float magnitude[512];
    const long long i = (long long)blockIdx.x * 512 + threadIdx.x;
    const float value = x[i];
    magnitude[threadIdx.x] = fabsf(value);
    __syncthreads();
    float largest = 0.0f;
    for (int j = 0; j < GROUP; j++) {
        largest = fmaxf(largest, magnitude[threadIdx.x / GROUP * GROUP + j]);
    }
    //@ trip
    const float scale = largest / ((1 << (BITS - 1)) - 1);  // 4 bits: 7, 8 bits: 127
    const float code = rintf(value / scale);
    y[i] = code * scale;
    //@ end
}
