// Columns outside, and a sum that is started once for each column.
// rejected for: wrong_output
// leads to: of a column to the next
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int j = 0; j < columns; j++) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++) {
            for (int k = 0; k < inner; k++) {
                sum += a[i * inner + k] * b[k * columns + j];
            }
            c[i * columns + j] = sum;
        }
    }
}
