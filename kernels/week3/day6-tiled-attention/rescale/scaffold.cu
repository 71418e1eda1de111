#include "lab.cuh"

// Puts together what several blocks know of a row. Part p has a maximum max[p, row], a sum sum[p, row] of exp(x - max), and the sum
// values[p, row, :] of exp(x - max) * v. One block does a row, one thread a column.
extern "C" __global__ void merge_outputs(
    const float* max, const float* sum, const float* values, float* out, int parts, int rows)
{
    const int row = blockIdx.x, column = threadIdx.x;
    float m = -INFINITY, l = 0.0f, total = 0.0f;
    for (int part = 0; part < parts; part++) {
        const float other_m = max[part * rows + row];
        const float other_l = sum[part * rows + row];
        const float other = values[(part * rows + row) * 64 + column];
        const float most = fmaxf(m, other_m);
        const float factor = expf(m - most), other_factor = expf(other_m - most);
        m = most;
        l = l * factor + other_l * other_factor;
        // TODO: rescale, as with l
        total = total + other;
    }
    out[row * 64 + column] = total / l;
}
