// Counts the column from the start of the whole matrix.
// rejected for: wrong_output
// leads to: it must be below n
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = -INFINITY;
    int where = rows * n;
    for (int i = row * n + lane; i < (row + 1) * n; i += 32)
        if (x[i] > best) best = x[i], where = i;
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(~0u, best, d);
        int there = __shfl_xor_sync(~0u, where, d);
        if (other > best || (other == best && there < where)) best = other, where = there;
    }
    if (lane == 0) index[row] = where, value[row] = best;
}
