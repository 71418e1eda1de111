#include "lab.cuh"

#define PARTS 4

// The maximum of count scores, and their sum of exp(score - maximum). Of no scores: -INFINITY and 0.
__device__ void partial(const float* x, int count, float& m, float& l)
{
    m = -INFINITY;
    l = 0.0f;
    for (int i = 0; i < count; i++) {
        const float most = fmaxf(m, x[i]);
        l = l * expf(m - most) + expf(x[i] - most);
        m = most;
    }
}

// lse[row] = log(sum of exp(x)) of each row. One thread does one row, in four parts that know nothing of each other.
extern "C" __global__ void row_lse(const float* x, float* lse, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* scores = x + (long long)row * columns;
    float m = -INFINITY, l = 0.0f;
    for (int part = 0; part < PARTS; part++) {
        const int first = part * columns / PARTS;
        const int end = (part + 1) * columns / PARTS;  // may be first: an empty part
        float other_m, other_l;
        partial(scores + first, end - first, other_m, other_l);
        const float most = fmaxf(m, other_m);
        l = l * expf(m - most) + other_l * expf(other_m - most);
        m = most;
    }
    lse[row] = m + logf(l);
}
