#include "lab.cuh"

// Each word holds four signed bytes, the lowest first. y gets them as floats.
extern "C" __global__ void unpack(const int* words, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const int word = words[i];
    float v[4];
    for (int k = 0; k < 4; k++) {
        v[k] = (signed char)(word >> (8 * k));
    }
    reinterpret_cast<float4*>(y)[i] = make_float4(v[0], v[1], v[2], v[3]);
}
