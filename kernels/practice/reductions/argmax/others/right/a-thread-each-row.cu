// One thread for each row, from left to right: ties are easy, loads are not.
// does not reach: Loads without a gap
// lockstep: grid = ceil_div(rows, block_x)
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[row * n + i] > x[row * n + best]) best = i;
    index[row] = best;
    value[row] = x[row * n + best];
}
