// One thread for each row: the order is easy, the loads are a row apart.
// does not reach: Loads without a gap
// lockstep: list_ones.grid = ceil_div(rows, block_x)
extern "C" __global__ void list_ones(const int* x, int* list, int* counts, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    if (row >= rows) return;
    for (int i = 0; i < n; i++)
        if (x[row * n + i]) list[row * n + found++] = i;
    counts[row] = found;
}
