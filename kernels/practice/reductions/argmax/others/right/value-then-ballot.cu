// First the largest value of all lanes; then the smallest column that has it, found by reading the row once more.
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* scores = x + row * n;
    float most = scores[0];
    for (int i = lane; i < n; i += 32) most = fmaxf(most, scores[i]);
    for (int d = 1; d < 32; d *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int first = 0; first < n; first += 32) {
        bool here = first + lane < n && scores[first + lane] == most;
        unsigned lanes = __ballot_sync(~0u, here);
        if (lanes) {
            if (lane == 0) index[row] = first + __ffs(lanes) - 1, value[row] = most;
            return;
        }
    }
}
