// Counts an unsigned variable down to zero, and waits for it to be less.
// rejected for: time_budget
// leads to: never below zero
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (unsigned k = inner - 1; k >= 0; k--) {
                sum += a[i * inner + k] * b[k * columns + j];
            }
            c[i * columns + j] = sum;
        }
    }
}
