// Uses one variable for row and column of c.
// rejected for: out_of_bounds
// leads to: its end
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0.0f;
        }
        for (int k = 0; k < inner; k++) {
            const float factor = a[i * inner + k];
            for (int j = 0; j < columns; j++) {
                c[i * columns + i] += factor * b[k * columns + j];
            }
        }
    }
}
