// One thread for each row: neighboring threads are a row apart.
// does not reach: Loads without a gap
// lockstep: grid = ceil_div(rows, block_x)
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float least = x[row * n], most = x[row * n];
    for (int i = 1; i < n; i++) {
        least = fminf(least, x[row * n + i]);
        most = fmaxf(most, x[row * n + i]);
    }
    min[row] = least;
    max[row] = most;
}
