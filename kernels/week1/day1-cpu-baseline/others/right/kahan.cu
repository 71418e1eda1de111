// With the lost bits of each addition carried along.
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0, lost = 0;
            for (int k = 0; k < inner; k++) {
                float y = a[i*inner+k]*b[k*columns+j] - lost;
                float t = sum + y;
                lost = (t - sum) - y;
                sum = t;
            }
            c[i*columns+j] = sum;
        }
}
