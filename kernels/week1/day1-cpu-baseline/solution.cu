#include "lab.cuh"

// Matrix product, loops in the order i, k, j: the innermost loop walks along a row of b and a row of c, so each
// access is the neighbor of the one before.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    //@ loops
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0.0f;
        }
        for (int k = 0; k < inner; k++) {
            const float factor = a[i * inner + k];
            for (int j = 0; j < columns; j++) {
                c[i * columns + j] += factor * b[k * columns + j];
            }
        }
    }
    //@ end
}
