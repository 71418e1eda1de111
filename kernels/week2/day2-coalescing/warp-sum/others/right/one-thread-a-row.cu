// Lane 0 adds up the whole row by itself: right, and one lane loads at a time.
// does not reach: In registers
#include "lab.cuh"

extern "C" __global__ void row_sums(const float* x, float* y, int rows)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row < rows && threadIdx.x % 32 == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 32; i++) {
            sum += x[row * 32 + i];
        }
        y[row] = sum;
    }
}
