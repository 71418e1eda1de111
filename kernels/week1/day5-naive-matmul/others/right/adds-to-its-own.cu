// Sets its element to zero, and adds to it with atomics; nobody else does.
#include "lab.cuh"
// lockstep: block = 32, 8
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float s = 0;
        c[row * n + column] = 0.0f;
        for (int i = 0; i < k; i += 16) {
            float p = 0;
            for (int j = i; j < min(i + 16, k); ++j) p = __fmaf_rn(a[row * k + j], b[j * n + column], p);
            atomicAdd(c + row * n + column, p);
        }
    }
}
