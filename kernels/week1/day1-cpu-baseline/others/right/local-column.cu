// Brings a column of b into a local array, in pieces.
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    constexpr int PIECE = 24;
    float column[PIECE];
    for (int j = 0; j < columns; j++)
        for (int k0 = 0; k0 < inner; k0 += PIECE) {
            const int n = min(PIECE, inner - k0);
            for (int k = 0; k < n; k++) column[k] = b[(k0 + k) * columns + j];
            for (int i = 0; i < rows; i++) {
                float s = k0 ? c[i * columns + j] : 0.0f;
                for (int k = 0; k < n; k++) s += a[i * inner + k0 + k] * column[k];
                c[i * columns + j] = s;
            }
        }
}
