// A semicolon after the for: the loop is empty, and j stands at its end.
// rejected for: out_of_bounds
// leads to: reads `b`[1]
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    int j;
    for (int i = 0; i < rows; i++) {
        for (j = 0; j < columns; j++)
            c[i * columns + j] = 0.0f;
        for (int k = 0; k < inner; k++) {
            for (j = 0; j < columns; j++);
            {
                c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
            }
        }
    }
}
