// One sum for a whole row of c, never set back.
// rejected for: wrong_output
// leads to: set to zero for each of them
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0.0f;
        }
        float sum = 0.0f;
        for (int j = 0; j < columns; j++) {
            for (int k = 0; k < inner; k++) {
                sum += a[i * inner + k] * b[k * columns + j];
            }
            c[i * columns + j] = sum;
        }
    }
}
