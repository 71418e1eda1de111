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
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }

    const float part = expf(score - most);
    float sum = part;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }

    y[row * 32 + lane] = part / sum;
}
