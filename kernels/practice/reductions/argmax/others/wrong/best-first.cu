// Takes the better value first and compares with it afterwards: the column never changes between lanes.
// rejected for: wrong_output
// leads to: wins = other > best
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = -INFINITY;
    int where = n;
    for (int i = lane; i < n; i += 32)
        if (x[row * n + i] > best) best = x[row * n + i], where = i;
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(~0u, best, d);
        int there = __shfl_xor_sync(~0u, where, d);
        best = fmaxf(best, other);
        if (other > best || (other == best && there < where)) where = there;
    }
    if (lane == 0) index[row] = where, value[row] = best;
}
