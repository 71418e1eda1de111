// Adds the last product once more after the loop.
// rejected for: wrong_output
// leads to: last product of each sum is added twice
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
                c[i * columns + j] += factor * b[k * columns + j];
            }
        }
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] += a[i * inner + inner - 1] * b[(inner - 1) * columns + j];
        }
    }
}
