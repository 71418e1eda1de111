// The thread above the diagonal swaps two elements: one access runs along a row, the other down a column.
// does not reach: Both tiles without a gap
// lockstep: grid = ceil_div(n, 32), ceil_div(n, 8)
// lockstep: block = 32, 8
extern "C" __global__ void transpose_in_place(float* x, int n) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (column >= n || row >= column) return;
    float above = x[row * n + column];
    x[row * n + column] = x[column * n + row];
    x[column * n + row] = above;
}
