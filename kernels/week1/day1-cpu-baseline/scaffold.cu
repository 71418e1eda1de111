#include "lab.cuh"

// Matrix product: c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + ... , for every row i and column j.
//
// a has rows x inner elements, b has inner x columns, c has rows x columns. All lie in memory row by row.
// One thread runs this function, from top to bottom, as a CPU would.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        // TODO 1: set row i of c to zero. It holds whatever was in memory before.

        for (int k = 0; k < inner; k++) {
            const float factor = a[i * inner + k];

            // TODO 2: to each element of row i of c, add factor times the element of row k of b in the same column.
            // (Until then the compiler warns that nobody uses factor.)
        }
    }
}
