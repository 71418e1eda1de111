// One thread adds up a whole row; neighboring threads are a row apart.
// does not reach: Loads without a gap
// lockstep: grid = ceil_div(rows, block_x)
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int i = 0; i < n; i++) y[row * n + i] = sum += x[row * n + i];
}
