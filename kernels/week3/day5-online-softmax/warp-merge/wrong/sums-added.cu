#include "lab.cuh"

// lse[row] = log(sum of exp(x)) of each row. One warp does one row: each lane keeps (m, l) of its own scores, then all are merged.
extern "C" __global__ void row_lse(const float* x, float* lse, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) {
        return;  // the whole warp leaves
    }
    float m = -INFINITY, l = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        const float score = x[(long long)row * columns + i];
        const float most = fmaxf(m, score);
        l = l * expf(m - most) + expf(score - most);
        m = most;
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        const float other_m = __shfl_xor_sync(FULL_MASK, m, distance);
        const float other_l = __shfl_xor_sync(FULL_MASK, l, distance);
        m = fmaxf(m, other_m);
        l += other_l;
    }
    if (lane == 0) {
        lse[row] = m + logf(l);
    }
}
