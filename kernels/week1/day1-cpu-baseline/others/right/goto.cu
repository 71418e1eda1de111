// Loops by goto, as in a program of 1970.
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    int i = 0, j, k;
    float s;
rows_:
    if (i == rows) return;
    j = 0;
columns_:
    if (j == columns) { ++i; goto rows_; }
    s = 0; k = 0;
sum_:
    if (k < inner) { s += a[i * inner + k] * b[k * columns + j]; ++k; goto sum_; }
    c[i * columns + j] = s; ++j;
    goto columns_;
}
