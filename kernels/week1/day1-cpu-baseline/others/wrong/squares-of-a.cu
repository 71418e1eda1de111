// Multiplies the factor with a again, not with b.
// rejected for: wrong_output
// leads to: multiplied with themselves
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
                c[i * columns + j] += factor * a[i * inner + k];
            }
        }
    }
}
