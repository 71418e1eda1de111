// Through a pointer to the function and a structure of arguments.
#include "lab.cuh"
// What every BLAS has under this name, for one thread and with the same order of arguments: c = a * b for matrices that
// lie in memory **column by column**. m: rows of a and c; n: columns of b and c; k: columns of a, and rows of b. lda, ldb
// and ldc, the leading dimensions, are the distances from the beginning of a column to the beginning of the next.
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
    struct Call { int m, n, k; const float *x, *y; float* z; } call{columns, rows, inner, b, a, c};
    void (*run)(int, int, int, const float*, int, const float*, int, float*, int) = sgemm;
    run(call.m, call.n, call.k, call.x, call.m, call.y, call.k, call.z, call.m);
}
