// Takes the factor before the loop over k, once a row.
// rejected for: wrong_output
// leads to: beginning of its row
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0.0f;
        }
        const float factor = a[i * inner];
        for (int k = 0; k < inner; k++) {
            for (int j = 0; j < columns; j++) {
                c[i * columns + j] += factor * b[k * columns + j];
            }
        }
    }
}
