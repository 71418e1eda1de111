#include "lab.cuh"

// Matrix addition: c[row][column] = a[row][column] + b[row][column].
//
// The matrices lie in memory row by row. A block has 32 x 8 threads (x, y); the grid has enough blocks in x for the
// columns and enough in y for the rows.
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    // TODO 1: this thread's row and column.
    const int row = 0;
    const int column = 0;

    // TODO 2: the place of (row, column) in memory, and the addition, but only inside the matrix.
}
