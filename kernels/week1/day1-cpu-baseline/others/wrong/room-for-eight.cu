// Copies a row into an array that fits the small sizes.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float row[8]; for (int k = 0; k < inner; k++) row[k] = a[i * inner + k]; float sum = 0.0f;
            for (int k = 0; k < inner; k++) {
                sum += row[k] * b[k * columns + j];
            }
            c[i * columns + j] = sum;
        }
    }
}
