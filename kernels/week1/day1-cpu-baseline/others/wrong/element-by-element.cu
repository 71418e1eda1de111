// Multiplies element by element instead of row by column.
// rejected for: wrong_output
// leads to: multiply its row and column by hand
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = a[i * inner + (j < inner ? j : 0)] * b[(i < inner ? i : 0) * columns + j];
        }
    }
}
