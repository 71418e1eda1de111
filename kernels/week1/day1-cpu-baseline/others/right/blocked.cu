// Cut into blocks, as for a CPU's cache; edges by the ternary operator.
#define B 4
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int e = 0; e < rows * columns; e++) c[e] = 0.f;
    for (int i0 = 0; i0 < rows; i0 += B)
        for (int k0 = 0; k0 < inner; k0 += B)
            for (int j0 = 0; j0 < columns; j0 += B) {
                const int i1 = i0 + B < rows ? i0 + B : rows;
                const int k1 = k0 + B < inner ? k0 + B : inner;
                const int j1 = j0 + B < columns ? j0 + B : columns;
                for (int i = i0; i < i1; i++)
                    for (int k = k0; k < k1; k++)
                        for (int j = j0; j < j1; j++)
                            c[i * columns + j] = __fmaf_rn(a[i * inner + k], b[k * columns + j], c[i * columns + j]);
            }
}
