// Keeps indices in a type of one byte.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (signed char i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int k = 0; k < inner; k++) {
                sum += a[(signed char)(i * inner) + k] * b[k * columns + j];
            }
            c[(signed char)(i * columns + j)] = sum;
        }
    }
}
