// Writes products over A.
// rejected for: race
// leads to: writes `a`[0]
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        float* line = const_cast<float*>(a) + row * k;
        for (int i = 0; i < k; i++) {
            line[i] *= b[i * n + column];
            sum += line[i];
        }
        c[row * n + column] = sum;
    }
}
