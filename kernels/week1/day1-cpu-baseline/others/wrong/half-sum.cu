// Rounds each product to a bfloat16 by cutting its lower half off.
// rejected for: precision
// leads to: nearly right
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int k = 0; k < inner; k++) {
                sum += __uint_as_float(__float_as_uint(a[i * inner + k] * b[k * columns + j]) & 0xffff0000u);
            }
            c[i * columns + j] = sum;
        }
    }
}
