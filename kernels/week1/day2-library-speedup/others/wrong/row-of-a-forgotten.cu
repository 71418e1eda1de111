// A call for each row, and the row of a is one number further.
// rejected for: wrong_output
// leads to: without the length of a row
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

// c = a * b, all three row by row: a has rows x inner elements, b has inner x columns, c has rows x columns.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int row = 0; row < rows; row++) {
        sgemm(columns, 1, inner, b, columns, a + row, inner, c + row * columns, columns);
    }
}
