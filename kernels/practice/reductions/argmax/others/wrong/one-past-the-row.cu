// Looks at the first score of the next row too.
// rejected for: out_of_bounds
// leads to: loop while i < n
#define ALL 0xffffffffu

extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float best = -INFINITY;
    int where = n;
    for (int i = lane; i <= n; i += 32) {
        float other = x[(size_t)row * n + i];
        if (other > best) best = other, where = i;  // columns ascend, so a tie keeps the earlier one
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(ALL, best, distance);
        int there = __shfl_xor_sync(ALL, where, distance);
        bool wins = other > best || (other == best && there < where);
        best = wins ? other : best;
        where = wins ? there : where;
    }
    if (lane == 0) index[row] = where, value[row] = best;
}
