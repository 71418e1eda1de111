// Makes 2 x 2 sums, guards the loads, and stores all four.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i += 2)
        for (int j = 0; j < columns; j += 2) {
            float s[2][2] = {};
            int i1 = min(i + 1, rows - 1), j1 = min(j + 1, columns - 1);
            for (int k = 0; k < inner; k++) {
                float a0 = a[i * inner + k], a1 = a[i1 * inner + k];
                float b0 = b[k * columns + j], b1 = b[k * columns + j1];
                s[0][0] += a0 * b0; s[0][1] += a0 * b1; s[1][0] += a1 * b0; s[1][1] += a1 * b1;
            }
            c[i * columns + j] = s[0][0];
            c[i * columns + j + 1] = s[0][1];
            c[(i + 1) * columns + j] = s[1][0];
            c[(i + 1) * columns + j + 1] = s[1][1];
        }
}
