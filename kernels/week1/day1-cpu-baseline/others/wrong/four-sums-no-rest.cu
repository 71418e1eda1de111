// Adds four products a round into four sums, and leaves out the rest of a row.
// rejected for: wrong_output
// leads to: products
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int k = 0; k + 3 < inner; k += 4) {
                s0 += a[i * inner + k] * b[k * columns + j];
                s1 += a[i * inner + k + 1] * b[(k + 1) * columns + j];
                s2 += a[i * inner + k + 2] * b[(k + 2) * columns + j];
                s3 += a[i * inner + k + 3] * b[(k + 3) * columns + j];
            }
            c[i * columns + j] = s0 + s1 + s2 + s3;
        }
}
