#include "lab.cuh"

// lse[row] = log(sum of exp(x)) of each row, in one pass. One thread does one row.
extern "C" __global__ void row_lse(const float* x, float* lse, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float m = -INFINITY;  // the largest score so far
    float l = 0.0f;       // the sum of exp(score - m) so far
    for (int i = 0; i < columns; i++) {
        const float score = x[(long long)row * columns + i];
        const float most = fmaxf(m, score);
        // TODO: l was summed with the old maximum m. Rescale it to the new one, then add this score's exponential.
        l = l + expf(score - most);
        m = most;
    }
    lse[row] = m + logf(l);
}
