// One index for all 12,288 elements.
#include "lab.cuh"
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float t[];
    const int me = threadIdx.y * 32 + threadIdx.x;
    for (int e = me; e < 96 * 128; e += 512) {
        const int r = e >> 7, c = e & 127, row = blockIdx.y * 96 + r, col = blockIdx.x * 128 + c;
        t[e ^ (r & 31)] = row < rows && col < columns ? __ldg(x + row * columns + col) : 0.0f;
    }
    __syncthreads();
    for (int e = me; e < 96 * 128; e += 512) {
        const int r = e % 96, c = e / 96, row = blockIdx.y * 96 + r, col = blockIdx.x * 128 + c;
        if (row < rows && col < columns) y[col * rows + row] = t[(128 * r + c) ^ (r & 31)];
    }
}
