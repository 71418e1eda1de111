// Takes the number of rows for the width of a.
// rejected for: out_of_bounds
// leads to: number of columns
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int k = 0; k < inner; k++) {
                sum += a[i * rows + k] * b[k * columns + j];
            }
            c[i * columns + j] = sum;
        }
    }
}
