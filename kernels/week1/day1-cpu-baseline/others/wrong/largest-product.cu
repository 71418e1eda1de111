// Keeps the largest product, where all are to be added.
// rejected for: wrong_output
// leads to: largest of its products
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float most = 0.0f;
            for (int k = 0; k < inner; k++) {
                most = fmaxf(most, a[i * inner + k] * b[k * columns + j]);
            }
            c[i * columns + j] = most;
        }
    }
}
