// Computes the product by hand and stores it as the library would.
// rejected for: transposed_output
// leads to: exchange
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int p = 0; p < inner; p++) sum += a[i * inner + p] * b[p * columns + j];
            c[j * rows + i] = sum;
        }
}
