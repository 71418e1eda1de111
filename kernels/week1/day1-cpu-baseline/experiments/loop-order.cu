#include "lab.cuh"

// The matrix product with its three loops in any of six orders. `extent[ORDER]` says how far each level runs, and which
// of i, j and k it is: the additions are the same ones, in another order.
#define ORDER 0

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    // Outermost to innermost: 0 is i, 1 is j, 2 is k.
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int extent[3] = {rows, columns, inner};
    for (int e = 0; e < rows * columns; e++) {
        c[e] = 0.0f;
    }
    int at[3] = {0, 0, 0};
    int& outer = at[orders[ORDER][0]];
    int& middle = at[orders[ORDER][1]];
    int& innermost = at[orders[ORDER][2]];
    for (outer = 0; outer < extent[orders[ORDER][0]]; outer++) {
        for (middle = 0; middle < extent[orders[ORDER][1]]; middle++) {
            for (innermost = 0; innermost < extent[orders[ORDER][2]]; innermost++) {
                const int i = at[0], j = at[1], k = at[2];
                c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
            }
        }
    }
}
