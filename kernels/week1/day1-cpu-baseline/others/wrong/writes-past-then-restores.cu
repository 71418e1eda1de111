// Uses the element behind c as a scratch place and puts its content back.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    const int n = rows * columns;
    const float saved = c[n];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            c[n] = 0.0f;
            for (int k = 0; k < inner; k++) c[n] += a[i * inner + k] * b[k * columns + j];
            c[i * columns + j] = c[n];
        }
    c[n] = saved;
}
