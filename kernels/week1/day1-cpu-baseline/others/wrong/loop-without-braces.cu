// Loops as in Python: indentation says what belongs to them.
// rejected for: compile_error
// leads to: Variables live from their declaration
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            float sum = 0;
            for (int k = 0; k < inner; k++)
                sum += a[i * inner + k] * b[k * columns + j];
            c[i * columns + j] = sum;
}
