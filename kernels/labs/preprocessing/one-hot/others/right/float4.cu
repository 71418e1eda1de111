// Four elements a store, which may belong to two rows.
#include "lab.cuh"
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    const int all = n * classes;
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * q + 3 < all) {
        float v[4];
        for (int k = 0; k < 4; k++) v[k] = labels[(4 * q + k) / classes] == (4 * q + k) % classes;
        reinterpret_cast<float4*>(y)[q] = make_float4(v[0], v[1], v[2], v[3]);
    } else for (int i = 4 * q; i < all; i++) y[i] = labels[i / classes] == i % classes;
}
