#include "lab.cuh"

// Each row of y = softmax of the row of x. A row has 32 scores: one warp does a row, one lane a score.
extern "C" __global__ void softmax_rows(const float* x, float* y, int rows)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) {
        return;  // the whole warp leaves
    }
    const float score = x[row * 32 + lane];

    float most = score;
    // TODO 1: the largest score of the row, in every lane

    const float part = expf(score - most);
    float sum = part;
    // TODO 2: the sum of all parts of the row, in every lane

    y[row * 32 + lane] = part / sum;
}
