// Looks at four columns at a time and forgets the one to three that are left at the end of a row.
// rejected for: wrong_output
// leads to: the last columns
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = x[row * n];
    int where = 0;
    for (int i = 4 * lane; i + 3 < n; i += 128)
        for (int k = 0; k < 4; k++)
            if (x[row * n + i + k] > best) best = x[row * n + i + k], where = i + k;
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(~0u, best, d);
        int there = __shfl_xor_sync(~0u, where, d);
        if (other > best || (other == best && there < where)) best = other, where = there;
    }
    if (lane == 0) index[row] = where, value[row] = best;
}
