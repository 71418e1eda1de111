// Multiplies the sums instead of summing the products.
// rejected for: wrong_output
// leads to: the two sums multiplied
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float left = 0, top = 0;
            for (int k = 0; k < inner; k++) { left += a[i * inner + k]; top += b[k * columns + j]; }
            c[i * columns + j] = left * top;
        }
}
