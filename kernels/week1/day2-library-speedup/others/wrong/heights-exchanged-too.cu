// Exchanges the factors, and gives their heights as leading dimensions.
// rejected for: out_of_bounds
// leads to: leading dimension
#include "lab.cuh"
__device__ void sgemm(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc)
{
    for (int column = 0; column < n; column++) {
        for (int row = 0; row < m; row++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) {
                sum += a[row + p * lda] * b[p + column * ldb];
            }
            c[row + column * ldc] = sum;
        }
    }
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    sgemm(columns, rows, inner, b, inner, a, columns, c, rows);
}
