// Counts the products from the end and goes one below the beginning.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int k = 1; k <= inner + 1; k++) sum += a[i * inner + inner - k] * b[(inner - k) * columns + j];
            c[i * columns + j] = sum;
        }
}
