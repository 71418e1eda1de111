// Reads the sum as an int through a union.
// rejected for: wrong_output
// leads to: bits read as a whole number
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    union { float f; int i; } sum;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            sum.f = 0.0f;
            for (int k = 0; k < inner; k++) sum.f += a[i * inner + k] * b[k * columns + j];
            c[i * columns + j] = sum.i;
        }
}
