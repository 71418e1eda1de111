// Reads a as if it were stored by columns.
// rejected for: wrong_output
// leads to: column by column
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0.0f;
        }
        for (int k = 0; k < inner; k++) {
            const float factor = a[k * rows + i];
            for (int j = 0; j < columns; j++) {
                c[i * columns + j] += factor * b[k * columns + j];
            }
        }
    }
}
